import type { Json } from '@parley/contract'
import type { z } from 'zod'
import type { ImportFindings } from './import-findings.ts'
import { isObject, type JsonObject, shown } from './json.ts'
import type { SourceLocation } from './source-location.ts'

/** An object in a list of the export, with its location. */
export interface Found {
  readonly item: JsonObject
  readonly location: SourceLocation
}

/** The rule for ids of one kind. */
export interface IdRule {
  readonly field: string
  readonly legal: z.ZodType<string>
  /** The text from which a valid id is made, where `id` is invalid or missing (then empty). */
  readonly stem: (item: JsonObject, id: string) => string
  readonly fallback: string
  readonly maxLength: number
}

/** Length of the maxLength suffix that makes a name unique: `-99999`. */
const LONGEST_SUFFIX = 6

/** Unique names in one scope. */
export class Names {
  readonly #taken = new Set<string>()
  /** The next number of each stem, so that many equal stems cost little time. */
  readonly #next = new Map<string, number>()

  /** Reserves the name; false where it is taken. */
  take(name: string): boolean {
    if (this.#taken.has(name)) return false
    this.#taken.add(name)
    return true
  }

  /** `stem`, cut to `maxLength` characters, with a number where it is taken. */
  invent(stem: string, maxLength: number): string {
    const characters = [...stem.slice(0, 2 * maxLength)]
    const plain = characters.slice(0, maxLength).join('')
    if (this.take(plain)) return plain
    const start = characters.slice(0, maxLength - LONGEST_SUFFIX).join('')
    for (let count = this.#next.get(start) ?? 2; ; count++) {
      const suffix = `-${count}`
      const name = characters.slice(0, maxLength - suffix.length).join('') + suffix
      if (!this.take(name)) continue
      this.#next.set(start, count + 1)
      return name
    }
  }
}

/** Gives each item a valid, unique id; returns the new ids by the old ones. Of two items with the same id the first keeps it. */
export function assignIds(
  found: readonly Found[],
  rule: IdRule,
  findings: ImportFindings,
  names = new Names(),
): Map<string, string> {
  const { field, legal, maxLength } = rule
  const renamed = new Map<string, string>()
  const unchanged = new Set<string>()
  const rest: Found[] = []
  for (const one of found) {
    const id = one.item[field]
    if (typeof id === 'string' && legal.safeParse(id).success && names.take(id)) unchanged.add(id)
    else rest.push(one)
  }
  for (const { item, location } of rest) {
    const id = scalar(item[field])
    const stem = rule.stem(item, id)
    const first = [...stem].slice(0, maxLength).join('')
    const name = names.invent(legal.safeParse(first).success ? stem : rule.fallback, maxLength)
    item[field] = name
    if (id === '') continue
    if (!unchanged.has(id) && !renamed.has(id)) renamed.set(id, name)
    findings.warn(
      'id_renamed',
      location.in(field),
      `The id \`${shown(id)}\` is invalid or taken, so it is now \`${name}\``,
    )
  }
  return renamed
}

/** The objects of a list. Other items are replaced by null, so that indexes do not change. */
export function objectsIn(
  owner: JsonObject,
  name: string,
  location: SourceLocation,
  findings: ImportFindings,
): Found[] {
  const list = owner[name]
  if (!Array.isArray(list)) return []
  const found: Found[] = []
  list.forEach((item, index) => {
    const at = location.in(name).item(index)
    if (isObject(item)) found.push({ item, location: at })
    else if (item !== null) {
      findings.warn('field_ignored', at, `An item of \`${name}\` is not an object: it is dropped`)
      list[index] = null
    }
  })
  return found
}

/** An id as text; empty: there is none. */
export function scalar(id: Json | undefined): string {
  return typeof id === 'string' || typeof id === 'number' ? String(id) : ''
}
