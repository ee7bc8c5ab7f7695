/** A caller's choice among offers: a pressed key, or words. */
export interface Selection {
  readonly key: string
  readonly said: string
}

const ORDINALS = ['first', 'second', 'third']

/** The chosen offer: by its pressed number, otherwise by its name or position; undefined: none. */
export function selected<Offer>(
  offers: readonly Offer[],
  { key, said }: Selection,
  namesOf: (offer: Offer) => readonly string[],
): Offer | undefined {
  if (key !== '') return /^[1-9]$/.test(key) ? offers[Number(key) - 1] : undefined
  const words = wordsOf(said)
  const ordinal = ORDINALS.findIndex(word => words.includes(` ${word} `))
  if (ordinal >= 0) return offers[ordinal]
  if (words.includes(' last ')) return offers.at(-1)
  return named(offers, said, namesOf)
}

/** The first thing that is called by one of its names in what was said. */
export function named<Thing>(
  things: Iterable<Thing>,
  said: string,
  namesOf: (thing: Thing) => readonly string[],
): Thing | undefined {
  const words = wordsOf(said)
  for (const thing of things) if (namesOf(thing).some(name => words.includes(wordsOf(name)))) return thing
  return undefined
}

/** Lower-case words between blanks, so that whole words are found. */
function wordsOf(text: string): string {
  return ` ${text
    .toLowerCase()
    .replace(/[^a-z0-9:-]+/g, ' ')
    .trim()} `
}
