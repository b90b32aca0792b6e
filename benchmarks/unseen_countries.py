"""Countries whose files nobody looked at while roles were proposed for those of the package."""

from __future__ import annotations

import datetime as dt

import numpy as np
from messy_files import Country


def _pesel(born: dt.date, rng: np.random.Generator) -> str:
    """Of Poland: birth date, century in the month, serial number, weights 1, 3, 7, 9."""
    month = born.month + (20 if born.year >= 2000 else 0)
    digits = [int(d) for d in f"{born.year % 100:02d}{month:02d}{born.day:02d}"]
    digits += rng.integers(0, 10, 4).tolist()
    total = sum(d * w for d, w in zip(digits, [1, 3, 7, 9, 1, 3, 7, 9, 1, 3], strict=True))
    return "".join(map(str, [*digits, -total % 10]))


def _cpf(_: dt.date, rng: np.random.Generator) -> str:
    """Of Brazil: nine digits and two check digits, modulo 11."""
    digits = rng.integers(0, 10, 9).tolist()
    for _place in range(2):
        total = sum(d * w for d, w in zip(digits, range(len(digits) + 1, 1, -1), strict=True))
        digits.append(total * 10 % 11 % 10)
    text = "".join(map(str, digits))
    return f"{text[:3]}.{text[3:6]}.{text[6:9]}-{text[9:]}"


def _hetu(born: dt.date, rng: np.random.Generator) -> str:
    """Of Finland: birth date, sign of the century, serial number, letter of modulo 31."""
    serial = int(rng.integers(2, 900))
    rest = int(f"{born:%d%m%y}{serial:03d}") % 31
    sign = "A" if born.year >= 2000 else "-"
    return f"{born:%d%m%y}{sign}{serial:03d}{'0123456789ABCDEFHJKLMNPRSTUVWXY'[rest]}"


def _tc_kimlik(_: dt.date, rng: np.random.Generator) -> str:
    """Of Turkey: nine digits and two check digits."""
    digits = [int(rng.integers(1, 10)), *rng.integers(0, 10, 8).tolist()]
    digits.append((sum(digits[0:9:2]) * 7 - sum(digits[1:8:2])) % 10)
    return "".join(map(str, [*digits, sum(digits) % 10]))


def _odd_even(_: dt.date, rng: np.random.Generator) -> str:
    """Of Italy: six letters, year, month and day, place, and a letter by odd and even places."""
    letters = "".join(rng.choice(list("BCDFGLMNPRSTVZ"), 6))
    day, year = int(rng.integers(1, 29)) + 40 * int(rng.integers(2)), int(rng.integers(20, 99))
    code = f"{letters}{year:02d}{rng.choice(list('ABCDEHLMPRST'))}{day:02d}H501"
    odd = dict(zip("0123456789", (1, 0, 5, 7, 9, 13, 15, 17, 19, 21), strict=True))
    odd |= dict(zip("ABCDEFGHIJKLMNOPQRSTUVWXYZ", (
        1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24,
        23), strict=True))  # fmt: skip
    total = sum(
        odd[each] if i % 2 == 0 else (int(each) if each.isdigit() else ord(each) - 65)
        for i, each in enumerate(code)
    )
    return code + chr(65 + total % 26)


UNSEEN: dict[str, Country] = {
    "br": Country(
        women="Maria|Ana|Francisca|Antônia|Adriana|Juliana|Márcia|Fernanda|Patrícia|Aline|Camila|"
        "Bruna|Letícia|Larissa|Raimunda|Jaqueline|Thaís",
        men="José|João|Antônio|Francisco|Carlos|Paulo|Pedro|Lucas|Luiz|Marcos|Gabriel|Rafael|"
        "Raimundo|Wellington|Thiago|Everaldo",
        surnames="da Silva|dos Santos|Oliveira|Souza|Rodrigues|Ferreira|Alves|Pereira|Lima|Gomes|"
        "Costa|Ribeiro|Martins|Carvalho|Almeida|Lopes|Soares|Fernandes|Vieira|Barbosa|Rocha|Dias|"
        "Nascimento|Andrade|Moreira|Nunes|Marques|Machado|Mendes|Freitas",
        streets="Rua das Flores|Avenida Brasil|Rua Sete de Setembro|Travessa do Carmo|Rua XV de "
        "Novembro|Avenida Paulista|Alameda Santos|Rua São José|Praça da Sé",
        towns="Recife|Natal|Belém|Manaus|Curitiba|Goiânia|Campinas|Santos|Niterói|Maceió",
        jobs="professora|engenheiro|enfermeira|aposentado|estudante|motorista|vendedor",
        street="{}, {}", postcode="#####-###", phone="(11) 9####-####", number=_cpf,
        dates=("%d/%m/%Y", "%d-%m-%Y"), decimal=",", thousands=".",
        sexes=("F", "f", "feminino", "M", "m", "masculino"),
        marital="solteiro|casado|divorciado|viúvo",
        schools="nenhuma|fundamental|médio|superior|mestrado", missing=("NI", "ignorado", "-"),
        headers={"person": "prontuario", "given": "primeiro", "surname": "sobrenome",
                 "name": "nome", "birth": "nascimento", "birth_day": "dia_n",
                 "birth_month": "mes_n", "birth_year": "ano_n", "age": "idade", "sex": "sexo",
                 "marital": "estado_civil", "school": "escolaridade", "job": "ocupacao",
                 "postcode": "cep", "town": "cidade", "street": "logradouro", "number": "cpf",
                 "phone": "celular", "mail": "email", "record": "seq", "visit": "internacao",
                 "diagnosis": "cid10", "drug": "remedio", "lab": "exame", "cost": "valor",
                 "weight": "peso", "smoker": "fumante", "note": "obs"},
    ),
    "fi": Country(
        women="Anneli|Maria|Helena|Johanna|Kaarina|Marjatta|Hannele|Kristiina|Aino|Eevi|Helmi|"
        "Aada|Venla|Päivi|Sirpa|Tuula|Riitta",
        men="Juhani|Johannes|Olavi|Antero|Tapani|Kalevi|Tapio|Matti|Mikael|Leo|Eino|Väinö|Onni|"
        "Pekka|Jukka|Timo|Heikki",
        surnames="Korhonen|Virtanen|Mäkinen|Nieminen|Mäkelä|Hämäläinen|Laine|Heikkinen|Koskinen|"
        "Järvinen|Lehtonen|Lehtinen|Saarinen|Salminen|Heinonen|Niemi|Heikkilä|Salonen|Kinnunen|"
        "Turunen|Salo|Laitinen|Tuominen|Rantanen|Karjalainen|Jokinen|Mattila|Savolainen|Lahtinen",
        streets="Koulukatu|Rantatie|Kirkkokatu|Asemakatu|Mannerheimintie|Koivukuja|Puistokatu|"
        "Keskuskatu|Metsätie|Satamakatu",
        towns="Turku|Oulu|Tampere|Lahti|Kuopio|Pori|Vaasa|Kotka|Rauma|Espoo",
        jobs="opettaja|insinööri|sairaanhoitaja|eläkeläinen|opiskelija|myyjä|kuljettaja",
        street="{} {}", postcode="#####", phone="040 #######", number=_hetu,
        dates=("%d.%m.%Y", "%Y-%m-%d"), decimal=",", thousands="\N{NO-BREAK SPACE}",
        sexes=("N", "n", "nainen", "M", "m", "mies"), marital="naimaton|naimisissa|eronnut|leski",
        schools="perusaste|keskiaste|alempi korkeakoulu|ylempi korkeakoulu",
        missing=("ei tietoa", "puuttuu", "-"),
        headers={"person": "potilastunnus", "given": "etunimi", "surname": "sukunimi",
                 "name": "nimi", "birth": "syntymaaika", "birth_day": "synt_pv",
                 "birth_month": "synt_kk", "birth_year": "synt_v", "age": "ika",
                 "sex": "sukupuoli", "marital": "siviilisaaty", "school": "koulutus",
                 "job": "ammatti", "postcode": "postinumero", "town": "kunta", "street": "osoite",
                 "number": "hetu", "phone": "puhelin", "mail": "sahkoposti", "record": "rivi",
                 "visit": "tulopaiva", "diagnosis": "diagnoosi", "drug": "laake", "lab": "mittaus",
                 "cost": "hinta", "weight": "paino", "smoker": "tupakoi", "note": "lisatiedot"},
    ),
    "it": Country(
        women="Maria|Anna|Giuseppina|Rosa|Angela|Giovanna|Teresa|Lucia|Carmela|Caterina|Sofia|"
        "Giulia|Aurora|Ginevra|Chiara|Ornella|Fiorella",
        men="Giuseppe|Antonio|Giovanni|Mario|Luigi|Francesco|Angelo|Vincenzo|Pietro|Salvatore|"
        "Leonardo|Lorenzo|Mattia|Tommaso|Gennaro|Calogero",
        surnames="Rossi|Russo|Ferrari|Esposito|Bianchi|Romano|Colombo|Ricci|Marino|Greco|Bruno|"
        "Gallo|Conti|De Luca|Mancini|Costa|Giordano|Rizzo|Lombardi|Moretti|Barbieri|Fontana|"
        "Santoro|Mariani|Rinaldi|Caruso|Ferrara|Galli|Martini|Leone|D'Angelo",
        streets="Via Roma|Via Garibaldi|Corso Italia|Piazza Dante|Via Mazzini|Viale Europa|Via "
        "Verdi|Vicolo Stretto|Largo Augusto|Via Cavour",
        towns="Torino|Bari|Pisa|Lecce|Parma|Trento|Udine|Rimini|Napoli|Siena",
        jobs="insegnante|ingegnere|infermiera|pensionato|studente|operaio|impiegata",
        street="{}, {}", postcode="#####", phone="3## #######", number=_odd_even,
        dates=("%d/%m/%Y", "%d-%m-%Y", "%d.%m.%y"), decimal=",", thousands=".",
        sexes=("F", "f", "femmina", "M", "m", "maschio"),
        marital="nubile|coniugato|divorziato|vedovo",
        schools="elementare|media|diploma|laurea", missing=("n.d.", "sconosciuto", "?"),
        headers={"person": "cod_paziente", "given": "nome", "surname": "cognome",
                 "name": "nominativo", "birth": "data_nascita", "birth_day": "gg_nasc",
                 "birth_month": "mm_nasc", "birth_year": "aa_nasc", "age": "eta", "sex": "sesso",
                 "marital": "stato_civile", "school": "titolo_studio", "job": "professione",
                 "postcode": "cap", "town": "comune", "street": "indirizzo", "number": "cf",
                 "phone": "cellulare", "mail": "posta", "record": "progr", "visit": "ricovero",
                 "diagnosis": "diagnosi", "drug": "farmaco", "lab": "esame", "cost": "importo",
                 "weight": "peso", "smoker": "fumatore", "note": "annotazioni"},
    ),
    "pl": Country(
        women="Anna|Maria|Katarzyna|Małgorzata|Agnieszka|Barbara|Ewa|Krystyna|Elżbieta|Zofia|"
        "Hanna|Zuzanna|Jadwiga|Danuta|Grażyna|Bożena",
        men="Piotr|Krzysztof|Andrzej|Tomasz|Jan|Paweł|Michał|Marcin|Jakub|Stanisław|Antoni|"
        "Szymon|Zbigniew|Grzegorz|Wojciech|Mariusz",
        surnames="Nowak|Kowalski|Wiśniewski|Wójcik|Kowalczyk|Kamiński|Lewandowski|Zieliński|"
        "Szymański|Woźniak|Dąbrowski|Kozłowski|Mazur|Jankowski|Kwiatkowski|Krawczyk|Kaczmarek|"
        "Piotrowski|Grabowski|Zając|Pawłowski|Król|Michalski|Wróbel|Wieczorek|Jabłoński|Adamczyk",
        streets="ul. Polna|ul. Leśna|ul. Szkolna|al. Jana Pawła II|ul. Ogrodowa|pl. Wolności|ul. "
        "Kościelna|ul. Kwiatowa|os. Słoneczne|ul. Mickiewicza",
        towns="Kraków|Łódź|Poznań|Gdynia|Lublin|Toruń|Radom|Opole|Płock|Słupsk",
        jobs="nauczycielka|inżynier|pielęgniarka|emeryt|student|kierowca|rolnik",
        street="{} {}", postcode="##-###", phone="+48 6## ### ###", number=_pesel,
        dates=("%d.%m.%Y", "%Y-%m-%d", "%d-%m-%Y"), decimal=",", thousands=" ",
        sexes=("K", "k", "kobieta", "M", "m", "mężczyzna"),
        marital="panna|żonaty|rozwiedziony|wdowa",
        schools="podstawowe|zawodowe|średnie|wyższe", missing=("brak", "nieznany", "b.d."),
        headers={"person": "nr_pacjenta", "given": "imie", "surname": "nazwisko",
                 "name": "imie_nazwisko", "birth": "data_ur", "birth_day": "dzien_ur",
                 "birth_month": "miesiac_ur", "birth_year": "rok_ur", "age": "wiek",
                 "sex": "plec", "marital": "stan_cyw", "school": "wyksztalcenie",
                 "job": "zawod", "postcode": "kod", "town": "miejscowosc", "street": "adres",
                 "number": "pesel", "phone": "telefon", "mail": "poczta", "record": "lp",
                 "visit": "przyjecie", "diagnosis": "rozpoznanie", "drug": "lek", "lab": "wynik",
                 "cost": "koszt", "weight": "waga", "smoker": "palacy", "note": "uwagi"},
    ),
    "tr": Country(
        women="Fatma|Ayşe|Emine|Hatice|Zeynep|Elif|Meryem|Şerife|Zehra|Sultan|Hanife|Merve|Defne|"
        "Asel|Gülsüm|Özlem",
        men="Mehmet|Mustafa|Ahmet|Ali|Hüseyin|Hasan|İbrahim|İsmail|Yusuf|Osman|Murat|Ömer|Alparslan|"
        "Göktuğ|Kerem|Emir",
        surnames="Yılmaz|Kaya|Demir|Şahin|Çelik|Yıldız|Yıldırım|Öztürk|Aydın|Özdemir|Arslan|Doğan|"
        "Kılıç|Aslan|Çetin|Kara|Koç|Kurt|Özkan|Şimşek|Polat|Korkmaz|Çakır|Erdoğan|Acar|Güneş",
        streets="Atatürk Caddesi|Cumhuriyet Caddesi|İnönü Sokak|Gül Sokak|Lale Sokak|Barış "
        "Mahallesi|Çınar Sokak|Fatih Bulvarı|Okul Sokak",
        towns="Ankara|İzmir|Bursa|Konya|Adana|Mersin|Samsun|Trabzon|Edirne|Van",
        jobs="öğretmen|mühendis|hemşire|emekli|öğrenci|şoför|çiftçi",
        street="{} No:{}", postcode="#####", phone="05## ### ## ##", number=_tc_kimlik,
        dates=("%d.%m.%Y", "%d/%m/%Y"), decimal=",", thousands=".",
        sexes=("K", "k", "kadın", "E", "e", "erkek"), marital="bekar|evli|boşanmış|dul",
        schools="ilkokul|ortaokul|lise|üniversite", missing=("yok", "bilinmiyor", "-"),
        headers={"person": "hasta_no", "given": "ad", "surname": "soyad", "name": "ad_soyad",
                 "birth": "dogum_tarihi", "birth_day": "d_gun", "birth_month": "d_ay",
                 "birth_year": "d_yil", "age": "yas", "sex": "cinsiyet", "marital": "medeni_hal",
                 "school": "egitim", "job": "meslek", "postcode": "posta_kodu", "town": "il",
                 "street": "adres", "number": "tckn", "phone": "telefon", "mail": "eposta",
                 "record": "sira", "visit": "yatis", "diagnosis": "tani", "drug": "ilac",
                 "lab": "tahlil", "cost": "tutar", "weight": "kilo", "smoker": "sigara",
                 "note": "aciklama"},
    ),
}  # fmt: skip
