"""What the header of a column says: words for its role, in English and in other languages."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import Literal

from sfumato.table.common_words import folded

Role = Literal["person", "direct", "quasi", "sensitive"]
_Hint = Literal["person", "direct", "named", "quasi", "sensitive", "household", "place"]

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+|\d+")

# A word that ends in "-" stands for every word that starts with it.
WORDS: dict[Role, str] = {
    "person": "patient person pers pid subject participant member client individual respondent "
    "beneficiary resident enrolid dupersid personid patientid subjectid patid persid",
    "direct": "name names surname forename firstname lastname givenname fullname username maiden "
    "family phone telephone tel mobile fax mail email address addr street ssn nhs nhi mrn "
    "passport licence license iban account url login photo initials note notes comment comments "
    "remark remarks narrative freetext letter medicare-",
    "quasi": "age ages agegroup sex gender dob- birth- born zip zipcode postcode postal plz "
    "race- ethnic- hisp- marital marry married marriage civil educ- school degree income "
    "occup- isco job profession employ- workclass employer industry country countries national- "
    "native citizen- city town suburb municipality county state region province district ward "
    "neighbourhood neighborhood location place religio- language spoken height weight household "
    "children insurance poverty admission admitted discharge visit date year yob month "
    "deathdate tribe caste origin rank veteran",
    "sensitive": "diagnos- dx icd- disease- disorder- condition- comorbid- drug- medic- "
    "prescri- procedure- treatment- therap- hiv lab labs result- outcome cause disab- salary "
    "wage- genetic genotype mutation mental symptom- atc ndc cpt loinc snomed offence offense "
    "crime conviction sexual pregnan- abortion addict- alcohol smok- score sick- grade debt",
}

_IDENTIFIER_WORDS = (
    "id ids identifier no nr num number key code uid uuid guid rec record row index pid"
)
_NO_IDENTIFIERS = "aid covid grid hybrid medicaid paid said solid steroid thyroid unpaid valid"

CATEGORY_WORDS = (
    "sex gender race- ethnic- hisp- marital marry married religio- state region country "
    "county national- language employ- workclass occup- insurance"
)


def words_of(name: str) -> tuple[str, ...]:
    """The words of a column name in lower case.

    Names in snake_case, kebab-case, camelCase and with digits are taken apart, accents taken off.

    Examples
    --------
    >>> words_of("birthYear"), words_of("ICD9_code"), words_of("ZIPCode")
    (('birth', 'year'), ('icd', '9', 'code'), ('zip', 'code'))
    """
    letters = unicodedata.normalize("NFKD", name)
    plain = "".join(each for each in letters if not unicodedata.combining(each))
    return tuple(word.lower() for word in _WORD.findall(plain))


def named(words: Iterable[str], known: str) -> bool:
    """Whether one of the words is among the known ones (``"dob-"``: starts with dob)."""
    entries = known.split()
    whole = {entry for entry in entries if not entry.endswith("-")}
    starts = tuple(entry[:-1] for entry in entries if entry.endswith("-"))
    return any(word in whole or word.startswith(starts) for word in words)


def identifies(words: tuple[str, ...]) -> bool:
    """Whether a name ends as that of a number or key does: rec_id, DUID, file_no."""
    last = words[-1] if words else ""
    if named((last,), _IDENTIFIER_WORDS):
        return True
    return last.endswith("id") and not named((last,), _NO_IDENTIFIERS)


_HINTS: dict[_Hint, str] = {
    "named": "surname forename firstname lastname givenname middlename fullname maiden vorname "
    "nachname familienname prenom apellido apellidos cognome sobrenome achternaam voornaam fornamn "
    "efternamn etunimi sukunimi imie nazwisko soyad nume prenume jmeno prijmeni vezeteknev "
    "keresztnev fornavn etternavn efternavn priezvisko ime prezime mother father mutter vater mere "
    "pere madre padre matka anne baba caseworker clerk official officer physician doctor surgeon "
    "attending nurse teacher judge interviewer vaccinator sachbearbeiter- behandler- arzt pfleger "
    "lehrer richter medecin agent infirmier- enseignant medico enfermer- funcionario maestro "
    "lekarz pielegniarka urzednik nauczyciel doktor hemsire memur ogretmen hakim 姓 名 姓名 医生 "
    "经办人 老师 氏名 이름 성명",
    "place": "country county state region city town district province suburb municipality "
    "municipio ville commune localite ort wohnort stadt gemeinde miejscowosc gmina powiat sehir "
    "ilce il cidade comune citta localidad ciudad plaats woonplaats kommune kunta mesto obec varos "
    "telepules localitate 城市 市 县 区 省",
    "household": "household hh hhid hhld hou haushalt- hogar menage foyer huishouden- hushall- "
    "duid famiglia nucleo dwelling- gospodarstwo kotitalous domicilio_id hane famid "
    "familyid familie gospodarstwa hogar 户号 家庭 世帯 가구",
    "person": "fallnummer fallnr patientennummer patientnr patient- nhc pacient- pacjent- "
    "paziente paciente numpatient proband- teilnehmer- versicherten- potilas- hasta- "
    "klient- asiakas- lopnr dossier historia prontuario chi mrn subject- idperson- personne "
    "cliente- bewohner- deelnemer- client- beteg- borger-",
    "direct": "vorname nachname familienname nom prenom nombre apellido- cognome nome sobrenome "
    "achternaam voornaam naam fornamn efternamn namn etunimi sukunimi nimi imie "
    "nazwisko ad soyad strasse anschrift adresse adres direccion domicilio indirizzo "
    "endereco logradouro osoite telefon- telefoon telefono puhelin handy celular "
    "correo courriel epost- sahkoposti bemerkung- kommentar- observacion- remarque- "
    "opmerking- anteckning- uwagi notiz- versichertennummer sozialversicherung- bsn "
    "nir dni nif cpf pesel personnummer hetu tckn nume prenume adresa jmeno prijmeni ulice "
    "vezeteknev keresztnev csaladnev nev utonev utca lakcim fornavn etternavn efternavn navn "
    "meno priezvisko ime prezime imena familia poznamka megjegyzes observatii bemaerkning cnp cpr "
    "taj ucet konto szamlaszam hausnummer hausnr huisnummer 门牌号 地址 电话 邮箱 身份证号",
    "quasi": "alter geschlecht geburt- plz ort wohnort familienstand beruf bildung staat- land "
    "kreis gemeinde staatsangehoerigkeit bildungsabschluss edad sexo fecha nacimiento "
    "municipio provincia estado profesion estudios ocupacion nacionalidad parentesco age sexe "
    "date- naissance commune departement situation diplome metier "
    "leeftijd geslacht geboorte- woonplaats opleiding beroep alder kon fodelse- yrke "
    "utbildning civilstand ika sukupuoli syntyma- kunta ammatti wiek plec data- "
    "urodzenia wyksztalcenie obywatelstwo miejscowosc wojewodztwo zawod eta "
    "sesso nascita comune professione "
    "idade nascimento cidade ocupacao escolaridade yas cinsiyet dogum- il ilce meslek "
    "egitim uyruk medeni- datum fecha- ingreso aufnahme entlassung opname ontslag groesse "
    "gewicht poids peso vek pohlavi narozeni mesto obec kraj povolani vzdelani rodinny kor nem "
    "szuletesi varos megye foglalkozas vegzettseg csaladi varsta nasterii localitate judet "
    "ocupatie studii stilling stillingsbetegnelse uddannelse kommune fodsels- yrke- sivilstand "
    "utdanning",
    "sensitive": "diagnos- krankheit- befund- medikament- wirkstoff labor- erkrankung- therapie- "
    "diagnostic- enfermedad farmaco- medicamento- analitica- resultado- maladie- "
    "medicament- dosage- traitement- ziekte- middel geneesmiddel bepaling- uitslag- "
    "lakemedel- provsvar- sjukdom- diagnoosi laake- mittaus- rozpoznanie lek leki "
    "wynik- choroba diagnosi- farmaci esame esami malattia cid10 exame- remedio- "
    "doenca tani ilac tahlil hastalik- gehalt lohn sueldo salario kosten costo coste "
    "cout kostnad koszt valor importo hinta tutar score- befinden raucher fumador "
    "fumeur blutdruck cholesterin- hba1c glucose glukose bmi",
}
"""Words of other languages than English, folded; they decide only between what values allow."""


def hinted(name: str, role: _Hint) -> bool:
    """Whether a header has a word of some language for a role."""
    words = tuple(folded(word) for word in words_of(name))
    return named(words, _HINTS[role]) or (role in WORDS and named(words, WORDS[role]))
