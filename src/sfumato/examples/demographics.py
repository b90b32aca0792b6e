"""What made-up persons are called and where they live, and draws from such weighted lists."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, eq=False)
class WeightedChoice:
    """One weighted list of items per stratum, laid out for a single binary search.

    Attributes
    ----------
    edges
        Flat, ascending: stratum s holds its cumulative shares, shifted into (s, s + 1].
    items
        Number of items in each stratum.
    """

    edges: npt.NDArray[np.float64]
    items: int

    @classmethod
    def of(cls, weights: npt.ArrayLike) -> WeightedChoice:
        """Lay out weights.

        Parameters
        ----------
        weights
            Not negative, shape (items,) for one stratum or (strata, items); no row is all zero.
        """
        table = np.atleast_2d(np.asarray(weights, dtype=np.float64))
        cumulative = np.cumsum(table, axis=1)
        shares = cumulative / cumulative[:, -1:]
        shares += np.arange(len(table))[:, None]
        return cls(shares.ravel(), table.shape[1])

    def sample(self, count: int, rng: np.random.Generator) -> npt.NDArray[np.int16]:
        """Draw from the first stratum, ``count`` times."""
        return self.draw(np.zeros(count, np.int8), rng)

    def draw(
        self, strata: npt.NDArray[np.integer], rng: np.random.Generator
    ) -> npt.NDArray[np.int16]:
        """Draw one item for each entry of ``strata``; an item of weight zero never comes.

        Parameters
        ----------
        strata
            The stratum of each draw.
        rng
            Source of randomness.
        """
        # 24 random bits: adding a stratum's number to them is exact, so no draw can round up
        # into the next stratum.
        points = rng.random(len(strata), dtype=np.float32).astype(np.float64)
        points += strata
        found = np.searchsorted(self.edges, points, side="right")
        found -= strata.astype(found.dtype) * self.items
        return found.astype(np.int16)


def zipf(count: int, shift: float = 0.0, slope: float = 1.0) -> npt.NDArray[np.float64]:
    """Zipf-Mandelbrot weights (rank + shift)^-slope of ranks 1 to ``count``, summing to 1."""
    weights = (np.arange(1, count + 1) + shift) ** -slope
    return np.asarray(weights / weights.sum(), dtype=np.float64)


FEMALE = 0
MALE = 1

COHORT_ENDS: tuple[int, ...] = (1950, 1980)
"""Years of birth at which the fashion of given names turns."""

_BEFORE_1950_F = """
Mary Dorothy Helen Margaret Ruth Barbara Patricia Virginia Betty Shirley Elizabeth Frances Joan
Anna Jean Doris Alice Carol Nancy Evelyn Judith Joyce Marie Martha Lillian Marjorie Rose Irene
Florence Lois Catherine Eleanor Louise Josephine Gloria Phyllis Beverly Marilyn Janet Lorraine
Ann Rita Norma Pauline Elaine Constance Theresa Claire Ethel Gertrude Edna Grace Jane Katherine
Mildred Thelma Hazel Lucille Bernice Agnes Edith Clara Ida Stella Sylvia Geraldine Marion Esther
Anne Juanita Annie Rosemary Wanda Priscilla Cynthia Arlene Jeannette Muriel Vivian Bertha Elsie
Gladys Maria Sally Concetta Yvette Mei Carmela Filomena Natalie Roberta Maxine Peggy June
"""
_BEFORE_1950_M = """
John Robert James William Richard Charles George Joseph Donald Edward Thomas Frank David Paul
Raymond Harold Walter Albert Arthur Henry Kenneth Francis Ronald Ralph Howard Eugene Carl Louis
Lawrence Leonard Frederick Anthony Stanley Gerald Daniel Philip Herbert Norman Ernest Alfred
Michael Peter Bernard Leo Russell Earl Roy Samuel Warren Leroy Theodore Edwin Gordon Clarence
Martin Roger Vincent Lewis Eugenio Roland Milton Chester Melvin Clifford Lloyd Leon Victor
Benjamin Sidney Harvey Irving Everett Salvatore Dominic Armand Lionel Manuel Antonio Ruben Wei
Maurice Allen Wayne Jerry Fred Jack Douglas Glenn Dennis Stephen Hugh Alan Edmund Julius
"""
_FROM_1950_F = """
Linda Susan Deborah Karen Donna Jennifer Lisa Kimberly Michelle Amy Mary Patricia Debra Cynthia
Sandra Pamela Sharon Diane Kathleen Christine Maria Laura Elizabeth Julie Lori Tammy Heather
Melissa Angela Stephanie Nicole Rebecca Jessica Kelly Maureen Ann Nancy Carol Janet Brenda
Denise Cheryl Teresa Robin Catherine Carolyn Ellen Theresa Tracy Dawn Tina Stacy Wendy Andrea
Paula Joanne Beth Gail Jill Anne Judith Lynn Eileen Margaret Jane Joyce Suzanne Colleen Sheila
Renee Monica April Erin Amanda Sarah Rachel Valerie Annette Rosa Ana Carmen Luz Yvonne Ling
Priya Sonia Marisol Nadine Marlene Fatima Bridget Claudia Regina Yolanda Tara Kristen Holly
"""
_FROM_1950_M = """
Michael David John Robert James William Richard Mark Steven Thomas Christopher Brian Kevin Jeffrey
Scott Timothy Paul Jason Joseph Daniel Matthew Stephen Kenneth Gary Eric Anthony Gregory Edward
Peter Ronald Donald Andrew Charles George Patrick Keith Douglas Sean Craig Dennis Todd Larry Chad
Raymond Philip Alan Jonathan Frank Carl Bruce Ryan Joshua Jose Carlos Luis Juan Roger Wayne Glenn
Gerald Lawrence Barry Randy Terry Russell Adam Aaron Derek Shawn Dean Neil Francis Martin Vincent
Stuart Leonard Ralph Danny Travis Brett Kurt Marc Hector Rafael Pedro Manuel Raj Wei Minh Jean
Pierre Domingos Ahmed Reginald Curtis Marcus Troy Darren Ross Nathan Victor Ernest Jorge Angel
"""
_FROM_1980_F = """
Emily Jessica Ashley Sarah Samantha Amanda Elizabeth Olivia Emma Sophia Isabella Madison Hannah
Abigail Ava Mia Alexis Lauren Rachel Nicole Victoria Kayla Taylor Megan Julia Grace Alyssa Brianna
Charlotte Amelia Ella Chloe Natalie Anna Katherine Stephanie Danielle Courtney Rebecca Brittany
Jasmine Morgan Kaitlyn Sydney Haley Caroline Allison Maya Zoe Lily Avery Evelyn Harper Layla Nora
Gabriella Sofia Camila Valentina Mariana Ana Andrea Vanessa Melissa Christina Kelsey Shannon Erin
Caitlin Molly Paige Mackenzie Jenna Leah Audrey Claire Lucy Eleanor Violet Hazel Penelope Riley
Aaliyah Destiny Imani Ximena Daniela Ngoc Mei Aisha Ananya Priya Leila Beatriz Gianna Juliana
Bianca Fiona Tessa Naomi Ruby Ivy Stella Jade Amber Whitney Kiara Angelica
"""
_FROM_1980_M = """
Michael Matthew Christopher Joshua Andrew Daniel Jacob Ryan Nicholas Joseph Tyler Alexander William
John James Benjamin Ethan Noah Liam Mason Logan Lucas Zachary Anthony David Jonathan Brandon Justin
Kevin Robert Samuel Nathan Dylan Christian Jack Connor Owen Henry Gabriel Luke Isaac Caleb Evan
Adam Aaron Sean Thomas Kyle Eric Patrick Brian Timothy Jordan Cameron Austin Hunter Aidan Jason
Elijah Oliver Sebastian Julian Leo Theodore Levi Wyatt Dominic Xavier Adrian Jose Luis Carlos Juan
Diego Miguel Angel Mateo Santiago Alejandro Eduardo Antonio Marcus Malik Isaiah Jayden Brayden
Colin Trevor Spencer Jeremy Derek Max Vincent Victor Omar Ahmed Arjun Rohan Wei Minh Duc Khalil
Declan Finn Griffin Declan Everett Silas Jasper Emmanuel Darius Terrence Devin Cole Ian Peter Paul
"""


def _distinct(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text.split()))


GIVEN_NAMES: dict[int, tuple[tuple[str, ...], ...]] = {
    FEMALE: tuple(map(_distinct, (_BEFORE_1950_F, _FROM_1950_F, _FROM_1980_F))),
    MALE: tuple(map(_distinct, (_BEFORE_1950_M, _FROM_1950_M, _FROM_1980_M))),
}
"""Given names by sex, then by cohort of birth, the most frequent first."""

FAMILY_NAMES: tuple[str, ...] = _distinct("""
Smith Johnson Sullivan Brown Williams Murphy Silva Santos Jones Miller Rodriguez Davis Martin
Rivera Garcia Nguyen White Clark Wilson Anderson O'Brien Moore Perez Lee Martinez Lopez Ryan
Walsh Taylor Thompson Kelly Gonzalez Costa Pereira Sousa Hernandez Cruz Ortiz Torres Robinson
Thomas Chen Wong Tran Kim Wang Lewis Hall Young King Wright Scott Green Baker Adams Campbell
Mitchell Roberts Carter Phillips Evans Turner Parker Collins Edwards Stewart Morris Rogers Reed
Cook Morgan Bell Murray Bailey Cooper Richardson Cox Howard Ward Peterson Gray James Watson
Brooks Sanders Price Bennett Wood Barnes Ross Henderson Coleman Jenkins Perry Powell Long
Patterson Hughes Washington Butler Simmons Foster Gonsalves Bryant Alexander Russell Griffin
Hayes Myers Ford Hamilton Graham Sweeney Lynch McCarthy Doherty Kennedy O'Connor McLaughlin
Gallagher Flynn Burke Dunn Quinn Barry Foley Donovan Regan Doyle Fitzgerald Connolly Callahan
Mahoney O'Neill O'Leary Driscoll Crowley Hurley Keane Leary McDonald McGrath McCormack Moran
Nolan Reilly Shea Tierney Whelan Brennan Casey Coughlin Cronin Daly Dolan Donnelly Dwyer Fallon
Finn Geary Hennessy Hogan Joyce Keating Kiley Mulligan Mullen Noonan Power Roche Rooney Scanlon
Rossi Russo Ferrari Esposito Romano Colombo Ricci Marino Greco Bruno Gallo Conti DeLuca Mancini
Costello Giordano Rizzo Lombardi Moretti Barbieri Fontana Santoro Mariani Rinaldi Caruso Ferrara
Martini Leone Longo Gentile Martinelli Vitale Lombardo Serra Coppola DiPietro DiNapoli Bianchi
Pacheco Medeiros Oliveira Ferreira Rodrigues Almeida Carvalho Gomes Lopes Marques Ribeiro Alves
Teixeira Moreira Correia Mendes Nunes Soares Vieira Cardoso Rocha Raposo Cabral Furtado Arruda
Barbosa Monteiro Tavares Pires Fonseca Andrade Barros Teves Amaral Botelho Couto Camara Melo
Ramirez Flores Gomez Diaz Reyes Morales Gutierrez Ramos Ruiz Alvarez Mendoza Castillo Jimenez
Vasquez Romero Herrera Medina Aguilar Vargas Guzman Mendez Munoz Salazar Soto Pena Rios Alvarado
Delgado Pabon Figueroa Colon Vega Maldonado Acosta Rosario Santiago Cordero Cabrera Nieves Matos
Li Zhang Liu Yang Huang Wu Zhou Lin Xu Ma Chan Cheng Leung Lam Ho Ng Pham Le Vo Dang Bui Do Huynh
Hoang Phan Duong Truong Park Choi Jung Kang Cho Yoon Patel Shah Singh Kumar Gupta Sharma Desai
Mehta Reddy Khan Ahmed Ali Hussain Rahman Chowdhury Hassan Mohamed Ibrahim Abdi Haddad Khoury
Jean Pierre Joseph Louis Charles Baptiste Francois Etienne Toussaint Desir Augustin Lafleur
Gagnon Tremblay Roy Cote Bouchard Gauthier Morin Lavoie Fortin Gagne Ouellette Pelletier Belanger
Levesque Bergeron Leblanc Paquette Girard Simard Boucher Caron Beaulieu Cloutier Dube Poirier
Fournier Lapointe Leclerc Lefebvre Poulin Thibault St-Pierre Desrosiers Charette Landry Richard
Cohen Levine Goldstein Katz Shapiro Friedman Rosenberg Kaplan Schwartz Weiss Goldberg Stein Klein
Kowalski Nowak Wojcik Kaminski Lewandowski Zielinski Szymanski Wozniak Petrov Ivanov Volkov
Papadopoulos Pappas Georgiou Nikolaidis Sarkisian Hagopian Petrosian Kazarian Larsen Olson Nelson
Hansen Johansson Lindberg Carlson Schmidt Weber Fischer Meyer Wagner Becker Hoffman Keller
Winthrop Whitaker Thayer Pratt Hathaway Snow Nickerson Howland Alden Bradford Brewster Standish
Chase Coffin Starbuck Folger Gardner Hussey Macy Bartlett Bowditch Endicott Peabody Sprague
""")
"""Family names, the most frequent first."""


_SHORT_FORMS = """
Abigail Abby Gail; Alexander Alex Sandy; Alexis Lexi; Alfred Fred Al; Amanda Mandy; Andrea Andi
Andrew Andy Drew; Angela Angie; Anthony Tony; Antonio Tony; Arthur Art; Barbara Barb; Benjamin Ben
Bernard Bernie; Beverly Bev; Brandon Bran; Catherine Cathy Kate; Charles Charlie Chuck
Christina Tina Chris; Christine Chris Chrissy; Christopher Chris; Clifford Cliff; Cynthia Cindy
Daniel Dan Danny; David Dave; Deborah Deb Debbie; Debra Deb; Donald Don; Dorothy Dot Dottie
Douglas Doug; Eduardo Eddie; Edward Ed Ted; Edwin Ed; Eleanor Ellie; Elizabeth Liz Beth Betty
Emily Em; Ernest Ernie; Eugene Gene; Evelyn Evie; Florence Flo; Frances Fran; Francis Frank
Frederick Fred; Gabriel Gabe; Gabriella Gabby; Geraldine Gerry; Gerald Jerry; Gregory Greg
Harold Harry Hal; Heather Heath; Henry Hank; Isabella Bella; Jacob Jake; James Jim Jimmy
Janet Jan; Jeffrey Jeff; Jennifer Jen Jenny; Jessica Jess; Jonathan Jon; Joseph Joe Joey
Joshua Josh; Judith Judy; Julie Jules; Katherine Kathy Kate; Kathleen Kathy; Kenneth Ken
Kimberly Kim; Lauren Laurie; Lawrence Larry; Leonard Len Lenny; Lillian Lil; Louis Lou
Madison Maddie; Margaret Peggy Maggie; Maria Marie; Marjorie Margie; Martha Marty; Martin Marty
Matthew Matt; Megan Meg; Melissa Missy; Michael Mike; Michelle Shelly; Mildred Millie; Nathan Nate
Natalie Nat; Nicholas Nick; Nicole Nikki; Olivia Liv; Pamela Pam; Patricia Pat Patty; Patrick Pat
Peter Pete; Philip Phil; Phyllis Phyl; Priscilla Cilla; Raymond Ray; Rebecca Becky; Richard Dick
Robert Bob Rob; Roberta Bobbie; Ronald Ron; Russell Russ; Samantha Sam; Samuel Sam; Sandra Sandy
Sebastian Seb; Sophia Sophie; Stanley Stan; Stephanie Steph; Stephen Steve; Steven Steve; Susan Sue
Suzanne Sue; Teresa Terry; Theodore Ted; Theresa Terry Tess; Thomas Tom; Timothy Tim; Valerie Val
Vanessa Nessa; Victoria Vicky; Victor Vic; Vincent Vince; Virginia Ginny; Walter Walt; William Bill
Zachary Zach
"""

NICKNAMES: dict[str, tuple[str, ...]] = {
    name: tuple(short)
    for name, *short in (
        line.split() for line in _SHORT_FORMS.replace("\n", ";").split(";") if line
    )
}
"""Short forms by given name, the most usual first."""


_ZIPS_AND_WEIGHTS = """
02138 36 02139 37 02140 20 02141 13 02142 4 02143 25 02144 25 02145 26 02155 60 02148 62
02149 50 02150 38 02151 58 02152 19 02169 58 02170 20 02171 19 02176 28 02180 23 02184 38
02186 27 02188 15 02189 16 02190 18 02191 9 02108 4 02109 4 02110 3 02111 8 02113 7 02114 13
02115 28 02116 22 02118 27 02119 29 02120 15 02121 29 02122 26 02124 55 02125 36 02126 29
02127 36 02128 46 02129 19 02130 41 02131 31 02132 28 02134 21 02135 46 02136 38 02210 4
02215 25 02445 21 02446 31 02451 20 02453 30 02458 13 02459 19 02460 9 02465 12 02467 22
02472 35 02474 28 02476 17 02478 26 02481 16 02482 12 02492 22 02494 10
01002 30 01007 15 01013 23 01020 30 01027 18 01040 40 01056 21 01060 16 01075 18 01082 10
01085 41 01089 28 01101 1 01104 23 01105 13 01107 12 01108 27 01109 31 01118 14 01119 14
01201 34 01220 8 01230 8 01247 15 01267 8 01301 19 01337 3 01342 2 01420 41 01430 6 01440 20
01453 42 01460 10 01501 17 01507 13 01520 19 01532 15 01545 37 01550 17 01562 12 01566 7
01570 17 01581 19 01602 22 01603 20 01604 36 01605 28 01606 20 01607 9 01609 21 01610 24
01701 34 01702 38 01720 24 01730 14 01742 18 01752 40 01757 28 01760 36 01776 18 01778 13
01801 40 01803 26 01810 36 01821 32 01824 26 01826 32 01830 26 01832 22 01835 14 01840 5
01841 50 01843 26 01844 50 01845 30 01850 16 01851 32 01852 34 01854 27 01863 9 01867 26
01876 31 01880 27 01886 25 01902 47 01904 20 01905 27 01906 28 01907 15 01915 42 01923 28
01930 24 01938 14 01945 20 01950 18 01960 54 01970 43 02019 17 02021 23 02026 25 02035 18
02038 33 02043 24 02048 24 02050 25 02062 29 02066 19 02072 29 02301 60 02302 35 02324 27
02332 16 02346 25 02360 60 02368 34 02370 18 02382 15 02532 10 02536 20 02554 10 02557 4
02568 5 02601 13 02632 10 02657 3 02703 46 02720 30 02721 25 02723 14 02724 16 02740 43
02744 12 02745 25 02746 15 02747 20 02760 29 02766 20 02780 50 02790 15
"""
ZIPS: tuple[str, ...] = tuple(_ZIPS_AND_WEIGHTS.split()[::2])
"""Five digits each, leading zero included."""

ZIP_WEIGHTS: tuple[int, ...] = tuple(map(int, _ZIPS_AND_WEIGHTS.split()[1::2]))
"""How many patients live there, relative to the others; rounded and made up."""

WESTERN_AREA = "413"
"""Telephone area code of the ZIPs below 01400."""

EASTERN_AREAS: tuple[str, ...] = ("617", "508", "978", "781", "774", "339", "857", "351")
"""Telephone area codes of all other ZIPs, the most frequent first."""
