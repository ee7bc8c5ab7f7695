/** The names of properties that every model service accepts in a JSON schema. */
const PLAIN = /^[A-Za-z0-9_.-]{1,64}$/

/** For each name the property by which a model is asked for it: the name itself, or `item_N` where services would refuse it. */
export function propertyNames(names: readonly string[]): string[] {
  const taken = new Set(names)
  return names.map((name, index) => {
    if (PLAIN.test(name)) return name
    let property = `item_${index + 1}`
    while (taken.has(property)) property += '_'
    taken.add(property)
    return property
  })
}

/** The description of a property; one that is not called by its name says it. */
export function propertyDescription(name: string, property: string, description: string): string {
  return name === property ? description : `${name}: ${description}`
}
