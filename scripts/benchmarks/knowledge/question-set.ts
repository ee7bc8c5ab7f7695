import { MATTERS, type Matter, THINGS, type Thing } from './catalogue.ts'

export interface WrittenDocument {
  readonly title: string
  readonly markdown: string
}

/**
 * How a question names what it is about: in the document's words, by the document's code alone, with another expression for the
 * thing, for the matter, or for both.
 */
export const KINDS = ['same words', 'code', 'other thing', 'other matter', 'other words'] as const
type Kind = (typeof KINDS)[number]

export interface Question {
  readonly kind: Kind
  readonly text: string
  /** Title of the one document that answers it. */
  readonly answeredBy: string
}

/** Forty documents, one per matter, for each of the first `things` things (at most 50), one passage each. */
export function documentsAbout(things: number): WrittenDocument[] {
  return pairs(things).map(({ thing, matter, number }) => ({
    title: titleOf(thing, matter),
    markdown: saying(matter, thing.name, codeOf(number)),
  }))
}

/** Documents of forty passages each: a model of a thing with all its matters. */
export function largeDocuments(count: number): WrittenDocument[] {
  return Array.from({ length: count }, (_none, index) => {
    const thing = THINGS[index % THINGS.length]!
    const name = `${thing.name} ${modelName(Math.floor(index / THINGS.length))}`
    const sections = MATTERS.map(
      (matter, at) => `# ${matter.title}\n\n${saying(matter, name, codeOf(index * MATTERS.length + at))}`,
    )
    return { title: `All about the ${name}`, markdown: sections.join('\n\n') }
  })
}

/** `perKind` questions of each kind, spread over the documents of the first `things` things. */
export function questionsAbout(things: number, perKind: number): Question[] {
  const all = pairs(things)
  // A step without a divisor in common with the number of documents: no two questions of a kind are about the same one.
  const step = coprimeStep(all.length)
  return KINDS.flatMap((kind, kindIndex) =>
    Array.from({ length: Math.min(perKind, all.length) }, (_none, index): Question => {
      const { thing, matter, number } = all[(index * step + kindIndex) % all.length]!
      return { kind, text: asked(kind, thing, matter, codeOf(number)), answeredBy: titleOf(thing, matter) }
    }),
  )
}

function asked(kind: Kind, thing: Thing, matter: Matter, code: string): string {
  switch (kind) {
    case 'same words':
      return named(matter.asks, thing.name)
    case 'code':
      return `What is ${code}?`
    case 'other thing':
      return named(matter.asks, thing.otherwise)
    case 'other matter':
      return named(matter.asksOtherwise, thing.name)
    case 'other words':
      return named(matter.asksOtherwise, thing.otherwise)
  }
}

function pairs(things: number): { readonly thing: Thing; readonly matter: Matter; readonly number: number }[] {
  return THINGS.slice(0, things).flatMap((thing, at) =>
    MATTERS.map((matter, index) => ({ thing, matter, number: at * MATTERS.length + index })),
  )
}

function titleOf(thing: Thing, matter: Matter): string {
  return `${matter.title}: ${thing.name}`
}

function saying(matter: Matter, name: string, code: string): string {
  return named(matter.says, name).replaceAll('CODE', code)
}

function named(text: string, name: string): string {
  return text.replaceAll('THING', name)
}

/** Each number has a code of its own, such as "QX4821": two letters and four digits. */
function codeOf(number: number): string {
  const mixed = (number * 7_919) % 6_760_000
  const letters = Math.floor(mixed / 10_000)
  const letter = (index: number) => String.fromCharCode(65 + (index % 26))
  return `${letter(Math.floor(letters / 26))}${letter(letters)}${String(mixed % 10_000).padStart(4, '0')}`
}

function modelName(number: number): string {
  const syllables = ['va', 'ro', 'mi', 'ten', 'lu', 'kas', 'no', 'bel', 'du', 'sor']
  const name = [number % 10, Math.floor(number / 10) % 10, Math.floor(number / 100) % 10]
    .map(index => syllables[index])
    .join('')
  return name[0]!.toUpperCase() + name.slice(1)
}

function coprimeStep(count: number): number {
  let step = Math.floor(count * 0.618)
  while (divisor(step, count) !== 1) step++
  return step
}

function divisor(one: number, other: number): number {
  return other === 0 ? one : divisor(other, one % other)
}
