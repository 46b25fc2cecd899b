# lizard forgive global
#lizard forgives
# GENERATED CODE
def place(a, b, c, d, e, f, g, h)
  # #lizard forgives
  [a, b, c, d, e, f, g, h]
end
