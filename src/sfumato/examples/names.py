"""Given and family names with their frequencies; put together at random, so nobody's own."""

from __future__ import annotations

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
