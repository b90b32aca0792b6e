"""ICD-9-CM diagnosis codes in groups: who has them, and how often."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sfumato.examples.demographics import FEMALE, MALE, zipf

OLDEST = 110
"""The highest age, in years, that the tables of weights know."""


@dataclass(frozen=True)
class DiagnosisGroup:
    """Codes that the same people have.

    Attributes
    ----------
    name
        What the codes have in common.
    share
        Weight of the whole group at its lowest age, relative to the other groups.
    listing
        One line per code: the code, a space, a short description; the most frequent first.
        Within the group, weights follow Zipf's law by rank.
    ages
        First and last age in completed years, both included.
    sexes
        Who can have them.
    chronic
        Whether a person who has it keeps it.
    growth
        Factor of the group's weight per ten years above its lowest age.
    """

    name: str
    share: float
    listing: str
    ages: tuple[int, int] = (0, OLDEST)
    sexes: tuple[int, ...] = (FEMALE, MALE)
    chronic: bool = False
    growth: float = 1.0

    @property
    def codes(self) -> tuple[tuple[str, str], ...]:
        """The codes with their descriptions, the most frequent first."""
        lines = self.listing.strip().splitlines()
        return tuple((line.split(maxsplit=1)[0], line.split(maxsplit=1)[1]) for line in lines)


GROUPS: tuple[DiagnosisGroup, ...] = (
    DiagnosisGroup(
        "chronic from childhood",
        share=1.0,
        ages=(2, OLDEST),
        chronic=True,
        listing="""
493.90 Asthma, unspecified
477.9 Allergic rhinitis, cause unspecified
314.01 Attention deficit disorder with hyperactivity
691.8 Atopic dermatitis
346.90 Migraine, unspecified
278.00 Obesity, unspecified
250.01 Diabetes mellitus type 1
345.90 Epilepsy, unspecified
696.1 Psoriasis
579.0 Celiac disease
299.00 Autistic disorder
282.60 Sickle-cell disease, unspecified
""",
    ),
    DiagnosisGroup(
        "chronic of adults",
        share=1.6,
        ages=(18, OLDEST),
        chronic=True,
        growth=1.05,
        listing="""
311 Depressive disorder
300.00 Anxiety state, unspecified
530.81 Esophageal reflux
244.9 Hypothyroidism, unspecified
305.1 Tobacco use disorder
327.23 Obstructive sleep apnea
564.1 Irritable bowel syndrome
296.80 Bipolar disorder, unspecified
303.90 Alcohol dependence
729.1 Myalgia and myositis, unspecified
555.9 Crohn's disease
556.9 Ulcerative colitis
304.00 Opioid dependence
070.54 Chronic hepatitis C
309.81 Posttraumatic stress disorder
042 Human immunodeficiency virus disease
340 Multiple sclerosis
295.90 Schizophrenia, unspecified
710.0 Systemic lupus erythematosus
""",
    ),
    DiagnosisGroup(
        "chronic of later life",
        share=2.6,
        ages=(35, OLDEST),
        chronic=True,
        growth=1.35,
        listing="""
401.9 Essential hypertension, unspecified
250.00 Diabetes mellitus type 2
272.4 Hyperlipidemia, other and unspecified
715.90 Osteoarthrosis, unspecified
414.01 Coronary atherosclerosis of native artery
427.31 Atrial fibrillation
496 Chronic airway obstruction
428.0 Congestive heart failure
585.3 Chronic kidney disease, stage III
366.16 Nuclear sclerosis cataract
365.11 Primary open-angle glaucoma
274.9 Gout, unspecified
714.0 Rheumatoid arthritis
362.51 Macular degeneration, nonexudative
443.9 Peripheral vascular disease
332.0 Parkinson's disease
331.0 Alzheimer's disease
250.40 Diabetes with renal manifestations
250.60 Diabetes with neurological manifestations
294.8 Persistent mental disorder, other
585.6 End stage renal disease
571.5 Cirrhosis of liver without alcohol
153.9 Cancer of colon
162.9 Cancer of bronchus and lung
172.9 Melanoma of skin
202.80 Lymphoma, other
""",
    ),
    DiagnosisGroup(
        "chronic of women",
        share=0.5,
        ages=(50, OLDEST),
        sexes=(FEMALE,),
        chronic=True,
        growth=1.1,
        listing="""
627.2 Menopausal symptomatic state
733.01 Senile osteoporosis
174.9 Cancer of female breast
618.01 Cystocele
183.0 Cancer of ovary
182.0 Cancer of body of uterus
""",
    ),
    DiagnosisGroup(
        "prostate, chronic",
        share=0.6,
        ages=(50, OLDEST),
        sexes=(MALE,),
        chronic=True,
        growth=1.3,
        listing="""
600.00 Hypertrophy of prostate without obstruction
600.01 Hypertrophy of prostate with obstruction
185 Cancer of prostate
601.1 Chronic prostatitis
""",
    ),
    DiagnosisGroup(
        "newborns",
        share=3.0,
        ages=(0, 0),
        listing="""
V20.32 Health supervision of newborn 8 to 28 days old
774.6 Jaundice of newborn
779.31 Feeding problems in newborn
771.7 Thrush of newborn
691.0 Diaper rash
""",
    ),
    DiagnosisGroup(
        "childhood",
        share=5.0,
        ages=(0, 17),
        growth=0.6,
        listing="""
V20.2 Routine infant or child health check
382.9 Otitis media, unspecified
034.0 Streptococcal sore throat
079.99 Viral infection, unspecified
464.4 Croup
381.01 Acute serous otitis media
466.11 Bronchiolitis due to RSV
074.3 Hand, foot and mouth disease
684 Impetigo
315.39 Developmental speech disorder
313.81 Oppositional defiant disorder
783.41 Failure to thrive
""",
    ),
    DiagnosisGroup(
        "respiratory, acute",
        share=3.2,
        listing="""
465.9 Acute upper respiratory infection
462 Acute pharyngitis
461.9 Acute sinusitis
466.0 Acute bronchitis
786.2 Cough
486 Pneumonia, organism unspecified
487.1 Influenza with respiratory manifestations
463 Acute tonsillitis
519.11 Acute bronchospasm
""",
    ),
    DiagnosisGroup(
        "infections and skin",
        share=1.2,
        listing="""
372.30 Conjunctivitis, unspecified
008.8 Intestinal infection due to other organism
692.9 Contact dermatitis
682.9 Cellulitis, unspecified
380.10 Otitis externa
110.5 Dermatophytosis of the body
708.9 Urticaria
078.10 Viral warts
053.9 Herpes zoster
088.81 Lyme disease
706.1 Acne
""",
    ),
    DiagnosisGroup(
        "injuries",
        share=2.0,
        listing="""
959.01 Head injury, unspecified
845.00 Sprain of ankle
847.0 Sprain of neck
883.0 Open wound of finger
924.9 Contusion, unspecified
873.42 Open wound of forehead
813.42 Fracture of distal radius
850.9 Concussion
844.9 Sprain of knee and leg
919.4 Insect bite
995.3 Allergy, unspecified
824.8 Fracture of ankle
949.0 Burn, unspecified degree
""",
    ),
    DiagnosisGroup(
        "symptoms",
        share=2.6,
        ages=(5, OLDEST),
        growth=1.05,
        listing="""
789.00 Abdominal pain, unspecified site
784.0 Headache
780.79 Malaise and fatigue, other
786.50 Chest pain, unspecified
780.60 Fever, unspecified
787.01 Nausea with vomiting
780.4 Dizziness and giddiness
564.00 Constipation
719.46 Pain in joint, lower leg
729.5 Pain in limb
786.05 Shortness of breath
780.52 Insomnia
785.1 Palpitations
780.2 Syncope and collapse
782.1 Rash
""",
    ),
    DiagnosisGroup(
        "adults, acute and preventive",
        share=3.4,
        ages=(18, OLDEST),
        listing="""
V70.0 Routine general medical examination
724.2 Lumbago
V04.81 Need for influenza vaccination
723.1 Cervicalgia
535.50 Gastritis, unspecified
V58.69 Long-term use of other medications
726.10 Rotator cuff syndrome
728.71 Plantar fasciitis
455.6 Hemorrhoids
354.0 Carpal tunnel syndrome
592.0 Calculus of kidney
574.20 Calculus of gallbladder
540.9 Acute appendicitis
099.53 Chlamydial infection, lower genitourinary
V65.42 Counseling on substance use
995.81 Adult physical abuse
""",
    ),
    DiagnosisGroup(
        "later life, acute",
        share=0.9,
        ages=(50, OLDEST),
        growth=1.4,
        listing="""
599.0 Urinary tract infection
V76.51 Screening for cancer of colon
280.9 Iron deficiency anemia
276.51 Dehydration
562.10 Diverticulosis of colon
702.0 Actinic keratosis
389.10 Sensorineural hearing loss
434.91 Cerebral artery occlusion with infarction
410.90 Acute myocardial infarction
820.8 Fracture of neck of femur
435.9 Transient cerebral ischemia
415.19 Pulmonary embolism
453.40 Deep vein thrombosis
""",
    ),
    DiagnosisGroup(
        "pregnancy",
        share=2.4,
        ages=(15, 50),
        sexes=(FEMALE,),
        growth=0.75,
        listing="""
V22.1 Supervision of normal pregnancy, other
V22.0 Supervision of normal first pregnancy
650 Normal delivery
643.03 Mild hyperemesis
648.83 Abnormal glucose tolerance in pregnancy
634.90 Spontaneous abortion
V24.2 Routine postpartum follow-up
642.33 Transient hypertension of pregnancy
644.03 Threatened premature labor
659.63 Elderly multigravida
635.90 Legally induced abortion
646.63 Infection of genitourinary tract in pregnancy
""",
    ),
    DiagnosisGroup(
        "women, acute",
        share=1.6,
        ages=(18, 75),
        sexes=(FEMALE,),
        listing="""
V72.31 Routine gynecological examination
616.10 Vaginitis
112.1 Candidiasis of vulva and vagina
626.2 Excessive or frequent menstruation
611.72 Lump or mass in breast
795.00 Abnormal Papanicolaou smear
620.2 Ovarian cyst
V25.09 Contraceptive management, other
628.9 Infertility, female
""",
    ),
    DiagnosisGroup(
        "women, screening",
        share=0.6,
        ages=(40, 75),
        sexes=(FEMALE,),
        listing="""
V76.12 Screening mammogram
793.80 Abnormal mammogram, unspecified
""",
    ),
    DiagnosisGroup(
        "prostate, acute and screening",
        share=0.7,
        ages=(50, OLDEST),
        sexes=(MALE,),
        growth=1.1,
        listing="""
790.93 Elevated prostate specific antigen
V76.44 Screening for cancer of prostate
601.0 Acute prostatitis
""",
    ),
    DiagnosisGroup(
        "men, acute",
        share=0.3,
        ages=(18, OLDEST),
        sexes=(MALE,),
        listing="""
607.84 Impotence of organic origin
550.90 Inguinal hernia
604.90 Orchitis and epididymitis
""",
    ),
)
"""All groups; a code is in one of them."""

CODES: tuple[str, ...] = tuple(code for group in GROUPS for code, _ in group.codes)
"""All codes, in the order of the groups."""

DESCRIPTIONS: dict[str, str] = {code: text for group in GROUPS for code, text in group.codes}
"""Short description of each code."""


def code_weights(*, chronic: bool) -> npt.NDArray[np.float64]:
    """Weights of the codes for each age and sex, shape (2 x (`OLDEST` + 1), codes).

    Row ``2 * age + sex`` (0 female, 1 male) holds share x growth^((age - lowest age) / 10) x
    Zipf(rank) for the codes of the groups that this age and sex can have, and 0 elsewhere.
    Chronic groups do not touch the rows below age 2: those are all zero.

    Parameters
    ----------
    chronic
        Take the chronic groups, or the acute ones.
    """
    ages = np.arange(OLDEST + 1)
    table = np.zeros((OLDEST + 1, 2, len(CODES)))
    start = 0
    for group in GROUPS:
        stop = start + len(group.codes)
        if group.chronic == chronic:
            low, high = group.ages
            trend = group.share * group.growth ** ((ages - low) / 10)
            trend[(ages < low) | (ages > high)] = 0.0
            weights = trend[:, None] * zipf(len(group.codes))
            for sex in group.sexes:
                table[:, sex, start:stop] = weights
        start = stop
    return table.reshape(-1, len(CODES))
