import type { Json } from '@parley/contract'
import type { z } from 'zod'
import type { ImportFindings } from './import-findings.ts'
import { isObject, type JsonObject, shown } from './json.ts'
import type { SourceLocation } from './source-location.ts'

/** An object in a list of the export, and where it stands. */
export interface Found {
  readonly item: JsonObject
  readonly location: SourceLocation
}

/** What ids of one kind are. */
export interface IdRule {
  readonly field: string
  readonly legal: z.ZodType<string>
  /** What a legal id may be made of, where `id` is none or missing (then empty). */
  readonly stem: (item: JsonObject, id: string) => string
  readonly fallback: string
  readonly longest: number
}

/** Of the numbers that tell names apart: `-99999`. */
const LONGEST_SUFFIX = 6

/** Unique names in one scope. */
export class Names {
  readonly #taken = new Set<string>()
  /** The next number by stem, so that many equal stems stay cheap. */
  readonly #next = new Map<string, number>()

  /** Reserves the name; false where it is taken. */
  take(name: string): boolean {
    if (this.#taken.has(name)) return false
    this.#taken.add(name)
    return true
  }

  /** `stem`, cut to `longest` characters, with a number where it is taken. */
  invent(stem: string, longest: number): string {
    const characters = [...stem.slice(0, 2 * longest)]
    const plain = characters.slice(0, longest).join('')
    if (this.take(plain)) return plain
    const start = characters.slice(0, longest - LONGEST_SUFFIX).join('')
    for (let count = this.#next.get(start) ?? 2; ; count++) {
      const suffix = `-${count}`
      const name = characters.slice(0, longest - suffix.length).join('') + suffix
      if (!this.take(name)) continue
      this.#next.set(start, count + 1)
      return name
    }
  }
}

/** Gives each item a valid, unique id; returns the new ids by the old ones. Of two equal ids the first stays. */
export function assignIds(
  found: readonly Found[],
  rule: IdRule,
  findings: ImportFindings,
  names = new Names(),
): Map<string, string> {
  const { field, legal, longest } = rule
  const renamed = new Map<string, string>()
  const kept = new Set<string>()
  const rest: Found[] = []
  for (const one of found) {
    const id = one.item[field]
    if (typeof id === 'string' && legal.safeParse(id).success && names.take(id)) kept.add(id)
    else rest.push(one)
  }
  for (const { item, location } of rest) {
    const id = scalar(item[field])
    const stem = rule.stem(item, id)
    const first = [...stem].slice(0, longest).join('')
    const name = names.invent(legal.safeParse(first).success ? stem : rule.fallback, longest)
    item[field] = name
    if (id === '') continue
    if (!kept.has(id) && !renamed.has(id)) renamed.set(id, name)
    findings.warn('id_renamed', location.in(field), `\`${shown(id)}\` is now \`${name}\``)
  }
  return renamed
}

/** The objects of a list. Other items become null, so that indexes stay. */
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
      findings.warn('field_ignored', at, `In \`${name}\` stands something that is no object: it is dropped`)
      list[index] = null
    }
  })
  return found
}

/** An id as text; empty where there is none. */
export function scalar(id: Json | undefined): string {
  return typeof id === 'string' || typeof id === 'number' ? String(id) : ''
}
