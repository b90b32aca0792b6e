"""Words that say what a column holds in many languages: common names, sexes, streets, units.

All are folded as `folded` does: small letters without accents. Names are the most frequent ones of
their countries' registers; a column of names holds many of them whatever its country, one of places
or trades few.
"""

from __future__ import annotations

import unicodedata

_UNDECOMPOSED = str.maketrans(
    {"ø": "o", "ł": "l", "ı": "i", "đ": "d", "æ": "ae", "œ": "oe", "þ": "th", "ð": "d"}
)


def folded(text: str) -> str:
    """A text in small letters without accents, blanks around it off.

    Examples
    --------
    >>> folded(" Jürgen "), folded("WEIß"), folded("Łukasz")
    ('jurgen', 'weiss', 'lukasz')
    """
    parts = unicodedata.normalize("NFKD", text.strip().casefold())
    plain = "".join(each for each in parts if not unicodedata.combining(each))
    return plain.translate(_UNDECOMPOSED)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


GIVEN_NAMES = _words(
    # English
    "mary patricia jennifer linda elizabeth barbara susan jessica sarah karen lisa nancy betty "
    "sandra margaret ashley kimberly emily donna michelle carol amanda dorothy melissa deborah "
    "stephanie rebecca sharon laura cynthia kathleen amy angela shirley anna brenda emma olivia "
    "ava sophia isabella mia charlotte amelia harper evelyn abigail grace chloe ella lily hannah "
    "ruby poppy freya isla alice lucy holly megan zoe molly georgia ellie jasmine james robert "
    "john michael william david richard joseph thomas charles christopher daniel matthew anthony "
    "mark donald steven paul andrew joshua kenneth kevin brian george edward ronald timothy jason "
    "jeffrey ryan jacob gary nicholas eric jonathan stephen larry justin scott brandon benjamin "
    "samuel gregory frank alexander raymond patrick jack dennis jerry tyler aaron noah liam oliver "
    "harry leo archie oscar henry ethan logan lucas mason luke connor lachlan mitchell joel jake "
    "callum angus hamish sean owen ian alan keith nigel graham barry wayne shane craig peter ben "
    "samantha nicole rachel katie kate jane julie helen alison diane christine catherine victoria "
    "louise natalie caitlin tahlia bridget sophie imogen madison taylor brianna kayla alexandra "
    # German, Dutch
    "ursula sabine petra monika renate karin lena julia katharina heike gisela claudia birgit "
    "brigitte ingrid helga greta andrea gabriele martina susanne angelika silke anja nicole tanja "
    "katrin stefanie christina johanna clara marie leonie lina ida frieda hilde gertrud erika elke "
    "peter michael thomas andreas wolfgang klaus jurgen juergen gunter stefan christian uwe werner "
    "horst frank dieter manfred lukas jonas finn ben felix paul max maximilian hans heinz gerhard "
    "bernd joachim matthias markus sebastian tobias florian tim jan niklas karl walter helmut kurt "
    "johannes hendrik pieter cornelis willem daan sem bram thijs lars jeroen kees gerrit bas "
    "sander ruben joost maarten dirk henk johan martijn wouter sanne lotte femke fleur anouk "
    "marieke wilhelmina cornelia saskia annemarie els ria truus lieke tess eva noor "
    # French
    "jeanne francoise monique catherine nathalie isabelle sylvie martine nicole camille lea manon "
    "ines jade elodie aurelie jacqueline christine valerie sandrine veronique celine sophie "
    "chantal annie helene claire pauline mathilde clara juliette jean pierre michel andre philippe "
    "rene louis alain jacques bernard nicolas julien hugo theo gabriel arthur guillaume marcel "
    "daniel roger christophe laurent olivier pascal antoine francois etienne mathieu maxime "
    # Spanish, Portuguese, Italian, Romanian
    "maria carmen ana isabel dolores pilar josefa teresa lucia marta elena paula sara cristina "
    "rosario mercedes rosa juana francisca antonia guadalupe alejandra gabriela daniela valentina "
    "sofia camila mariana fernanda adriana juliana marcia patricia aline bruna leticia larissa "
    "beatriz carolina amanda luana vanessa ines rita joana catarina antonio jose manuel francisco "
    "juan javier daniel jesus carlos alejandro miguel rafael pedro pablo sergio fernando jorge "
    "luis alberto alvaro diego adrian ramon enrique vicente santiago mateo joao paulo lucas luiz "
    "marcos gabriel tiago thiago andre bruno felipe eduardo ricardo rodrigo gustavo goncalo nuno "
    "giuseppina angela giovanna carmela caterina giulia aurora ginevra chiara francesca paola "
    "laura federica alessandra valentina silvia giuseppe giovanni mario luigi francesco angelo "
    "vincenzo pietro salvatore leonardo lorenzo mattia tommaso marco alessandro andrea matteo luca "
    "stefano roberto davide riccardo elena ioana andreea mihaela ion gheorghe vasile nicolae "
    "mihai alexandru andrei stefan cristian "
    # Nordic
    "karin kristina birgitta elsa maja ebba astrid linnea saga kerstin margareta agneta lars erik "
    "anders per mikael karl nils olof lennart gustav oskar axel magnus bjorn goran sven ake hakan "
    "fredrik henrik mats jens soren niels morten mette kirsten hanne lone anne ida freja clara "
    "ole svein kjell arne knut ingrid solveig nora anneli helena kaarina marjatta hannele "
    "kristiina aino eevi helmi aada paivi sirpa tuula juhani olavi antero tapani kalevi tapio "
    "matti eino onni pekka jukka timo heikki jon gudrun sigurdur "
    # Polish, Czech, Slovak, Hungarian, Croatian, Serbian, Bulgarian, Baltic
    "katarzyna malgorzata agnieszka ewa krystyna elzbieta zofia hanna zuzanna jadwiga danuta "
    "joanna magdalena monika aleksandra piotr krzysztof andrzej tomasz pawel michal marcin jakub "
    "stanislaw antoni szymon zbigniew grzegorz wojciech jerzy tadeusz adam mateusz jana eva hana "
    "lenka katerina veronika tereza lucie jiri petr josef pavel martin tomas jaroslav miroslav "
    "zdenek vaclav zuzana maria erzsebet katalin ilona agnes judit zsuzsanna laszlo istvan jozsef "
    "janos zoltan sandor gabor ferenc attila tamas ivana marija ana ivan marko josip luka nikola "
    "petar stjepan jelena milica dragan zoran milan georgi dimitar ivanka janis andris jonas "
    # Turkish, Greek, Russian and Ukrainian in Latin and in their own letters
    "fatma ayse emine hatice zeynep elif meryem zehra sultan merve mehmet mustafa ahmet ali "
    "huseyin hasan ibrahim ismail yusuf osman murat omer kerem emre giorgos georgios dimitris "
    "dimitrios nikos nikolaos kostas konstantinos yannis ioannis maria eleni katerina vasiliki "
    "olga tatiana natalia svetlana irina elena ekaterina anastasia sergei alexey dmitry andrey "
    "mikhail vladimir oleksandr volodymyr olena oksana мария анна елена ольга наталья татьяна "
    "екатерина ирина светлана анастасия александр сергеи владимир андреи алексеи дмитрии михаил "
    "иван николаи μαρια ελενη γεωργιος δημητριος ιωαννης νικολαος κωνσταντινος αικατερινη "
    # Arabic, Persian, Indian, East Asian in Latin letters
    "mohammed muhammad mohamed ahmed mahmoud omar khaled hassan hussein youssef abdullah fatima "
    "aisha mariam zainab khadija amina layla noor reza hossein zahra maryam priya anjali pooja "
    "neha lakshmi sunita anita rahul amit raj sanjay vijay suresh ramesh rajesh deepak arjun wei "
    "fang min jing li hiroshi takashi yuki sakura haruto minjun seoyeon jiwoo nguyen linh minh "
    "huong siti nur agus budi dewi chinedu ngozi oluwaseun kwame amina thabo"
)
"""Common given names."""

SURNAMES = _words(
    "smith jones taylor brown williams wilson johnson davies patel robinson wright thompson evans "
    "walker white roberts green hall clarke jackson wood harris edwards turner martin cooper hill "
    "ward hughes moore clark king harrison lewis baker lee allen morris khan scott watson davis "
    "parker bennett young phillips richardson mitchell miller garcia rodriguez martinez hernandez "
    "lopez gonzalez anderson thomas nguyen campbell kelly ryan murphy white singh kumar sharma "
    "muller mueller schmidt schneider fischer weber meyer wagner becker schulz hoffmann schafer "
    "koch bauer richter klein wolf schroder neumann schwarz zimmermann braun kruger hofmann "
    "hartmann lange schmitt werner krause meier lehmann kohler maier huber mayer gruber steiner "
    "jansen bakker visser janssen smit meijer mulder bos vos peters hendriks dekker brouwer "
    "dijkstra smits jacobs vermeulen maes claes willems goossens wouters martin bernard petit "
    "robert richard durand dubois moreau laurent simon michel lefebvre leroy roux bertrand morel "
    "fournier girard bonnet dupont lambert fontaine rousseau vincent fernandez sanchez perez gomez "
    "jimenez ruiz diaz moreno munoz alvarez romero alonso gutierrez navarro torres dominguez "
    "vazquez ramos gil ramirez serrano silva santos oliveira souza sousa rodrigues ferreira alves "
    "pereira lima gomes costa ribeiro martins carvalho almeida lopes soares fernandes vieira "
    "rossi russo ferrari esposito bianchi romano colombo ricci marino greco bruno gallo conti "
    "mancini giordano rizzo lombardi moretti barbieri popescu ionescu popa andersson johansson "
    "karlsson nilsson eriksson larsson olsson persson svensson gustafsson hansen johansen olsen "
    "larsen andersen pedersen nielsen jensen christensen rasmussen korhonen virtanen makinen "
    "nieminen makela hamalainen laine heikkinen koskinen jarvinen nowak kowalski wisniewski wojcik "
    "kowalczyk kaminski lewandowski zielinski szymanski wozniak novak svoboda novotny dvorak "
    "cerny prochazka horvath kovac kovacs nagy toth szabo varga molnar ivanov petrov dimitrov "
    "yilmaz kaya demir sahin celik yildiz yildirim ozturk aydin ozdemir papadopoulos ivanova "
    "иванов смирнов кузнецов попов васильев петров wang zhang liu chen yang huang zhao wu zhou kim "
    "park choi jung tanaka suzuki sato takahashi watanabe ito yamamoto ali ahmed hussain begum "
    "mohamed hassan ibrahim abdullah tran pham hoang okafor okonkwo chukwu nwosu eze adeyemi "
    "balogun bello musa mensah 佐藤 鈴木 高橋 田中 伊藤 渡辺 山本 中村 王 李 张 刘 陈 杨 黄 赵 吴 "
    "周 陳 林 張 김 이 박 최 정 강 조 윤 장 임"
)
"""Common surnames."""

SURNAME_ENDING = (
    r"(?i)^(?:.*(?:s+on|sen|ez|ski|ska|cki|cka|dottir|nen|i[cć]|ov[aá]?|ev[aá]?|enko|[ck]zyk"
    r"|opoulos|idis|akis|escu|o[gğ]lu|mann|stra|yan|ian)"
    r"|(?:van|von|de|den|der|di|da|dos|del|ben) .*|(?:mc|o'|d'|al-).+)$"
)
"""How surnames end or begin in many languages."""

SEXES: dict[str, str] = dict.fromkeys(
    _words(
        "f w fem female woman girl weiblich frau femme feminin feminino feminina femenino femenina "
        "mujer mulher vrouw kvinna kvinde kvinne nainen femmina femminile donna kobieta zena no "
        "kadin gynaika женщина жен жен. ж θηλυ f. 女 여 v k"
    ),
    "f",
) | dict.fromkeys(
    _words(
        "m male man boy mannlich maennlich mann herr homme masculin masculino masculina hombre "
        "homem mies mand maschio maschile uomo mezczyzna muz ferfi erkek andras мужчина муж муж. "
        "м αρρεν m. 男 남 h e"
    ),
    "m",
)
"""Words for a sex; some letters mean one or the other by what stands beside them."""
OTHER_SEXES = _words("x d u o i divers diverse other unknown intersex n/a na nb")

STREET = (
    r"(?i)(?:\b(?:street|st\.?|road|rd\.?|avenue|ave?\.?|lane|ln\.?|drive|dr\.?|close|court|ct\.?"
    r"|place|crescent|terrace|circuit|boulevard|blvd\.?|highway|parade|way|square|rue|impasse"
    r"|chemin|all[ée]e|quai|route|via|viale|corso|piazza|vicolo|largo|calle|c/|avda\.?|avenida"
    r"|plaza|paseo|ronda|camino|carrer|rua|travessa|alameda|pra[cç]a|estrada|ul\.?|ulica|al\."
    r"|pl\.|os\.|aleja|osiedle|sok(?:ak)?|cad(?:desi)?|mah(?:allesi)?|bulvar[ıi]|utca|[uú]t|t[eé]r"
    r"|n[aá]m[eě]st[ií]|strada|str\.?|ulitsa|bd\.?|p\.?o\.? ?box|jalan|jl\.?)(?:\W|$)"
    r"|stra[sß]+e\b|str\.?(?:\W|$)|weg\b|gasse\b|platz\b|allee\b|ring\b|damm\b|ufer\b"
    r"|straat\b|laan\b|plein\b|kade\b|steeg\b|singel\b|gracht\b|gatan\b|gata\b|v[äa]gen\b"
    r"|veien\b|vej\b|gade\b|vei\b|katu\b|tie\b|kuja\b|polku\b"
    r"|[路街巷弄道]\S*\d+ ?[号號]?|[로길] ?\d|\d+[号號]|丁目)"
)
"""What streets are called."""

UNITS = _words(
    "kg g mg µg ug ng lb lbs oz t m cm mm km ft in l dl cl ml % bpm mmhg kpa mmol mmol/l mg/dl "
    "g/dl g/l µmol/l umol/l ng/ml pg/ml u/l iu/l kg/m2 kg/m² °c °f c f h min s ms y yr yrs years "
    "jahre ans anos anni jaar ar € $ £ eur usd gbp chf sek nok dkk pln zl kr r$ czk huf ₺ tl try "
    "¥ jpy ₹ inr days d tage hrs"
)
"""Units of measurement and currencies."""

CURRENCIES = _words("€ $ £ eur usd gbp chf sek nok dkk pln zl kr r$ czk huf ₺ tl ¥ jpy ₹")
"""What may stand before an amount."""

DATE_WORDS = (
    "date- dates dt dob birthdate birthday datum data datas dato datos fecha- fec geburtsdatum- "
    "geburtstag- aufnahmedatum entlassungsdatum fodselsdato fodelsedatum geboortedatum "
    "syntymaaika paivamaara pvm datan tarih- datum- datumi dia"
)
"""Words of headers that say date, as `header_words.named` takes them."""
MISSING_WORDS = _words(
    "? na n/a n.a. n.a null nan #n/a . - -- --- unknown unk missing unspecified k.a. ka "
    "unbekannt fehlt nd n.d. n.d s/d desconocido nc nr n.r. inconnu inconnue onbekend nvt n.v.t. "
    "n.v.t okand saknas ukendt ukjent sconosciuto brak nieznany b.d. b.d neznamo neuvedeno "
    "ismeretlen puuttuu tuntematon bilinmiyor yok ni ignorado desconhecido necunoscut неизвестно "
    "αγνωστο <na> (null) (blank) blank"
) | {
    "not known", "not available", "not stated", "not specified", "k. a.", "keine angabe",
    "sin dato", "sin datos", "no consta", "non renseigne", "non connu", "niet bekend",
    "uppgift saknas", "nie dotyczy", "nincs adat", "ei tietoa", "nao informado", "non noto",
    "нет данных",
}  # fmt: skip
"""What stands for a missing value."""

YES_NO = _words(
    "yes no y n ja nein oui non si sim nao nej nee kylla ei tak nie ano ne evet hayir true false t "
    "f 0 1 da vrai faux wahr falsch verdadero falso positive negative positiv negativ pos neg + - "
    "да нет j o"
)
"""Answers."""

COUNTRIES = _words(
    "germany deutschland france spain espana italy italia netherlands nederland belgium belgie "
    "belgique austria osterreich switzerland schweiz suisse sweden sverige norway norge denmark "
    "danmark finland suomi poland polska portugal brazil brasil mexico usa united states canada "
    "england scotland wales ireland united kingdom uk gb australia new zealand china india "
    "japan korea turkey turkiye turkei greece romania hungary ukraine russia morocco maroc "
    "algeria tunisia syria iraq iran afghanistan pakistan vietnam philippines somalia nigeria "
    "ghana kenya ethiopia argentina colombia chile peru cuba de fr es it nl be at ch se no dk "
    "fi pl pt br mx us ca ie au nz cn in jp kr tr gr ro hu ua ru ma sy iq ir deu fra esp ita "
    "nld bel aut che swe nor dnk fin pol prt bra mex can gbr irl aus nzl chn ind jpn kor tur "
    "united-states"
)
"""Countries, by name and by code."""
