"""Short forms of given names, as people give them at a counter."""

from __future__ import annotations

_LISTING = """
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
    for name, *short in (line.split() for line in _LISTING.replace("\n", ";").split(";") if line)
}
"""Short forms by given name, the most usual first."""
