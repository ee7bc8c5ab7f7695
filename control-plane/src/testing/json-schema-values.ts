import type { JsonSchema } from '@parley/contract'
import { jsonSchema } from '@parley/contract/testing'
import { type Random, randomBelow } from '@parley/kernel'
import fc from 'fast-check'
import type { z } from 'zod'

/** By pattern. fast-check enumerates the characters of each class when it makes one, which takes 100 ms and more. */
const TEXTS_MATCHING = new Map<string, fc.Arbitrary<string>>()

function textsMatching(pattern: string): fc.Arbitrary<string> {
  const known = TEXTS_MATCHING.get(pattern)
  if (known !== undefined) return known
  const made = fc.stringMatching(new RegExp(pattern, 'u'))
  TEXTS_MATCHING.set(pattern, made)
  return made
}

/** A schema of one part of a request, with its named parts resolved. */
export class SchemaValues {
  readonly #root: JsonSchema
  readonly #random: Random
  readonly #known: (name: string) => unknown

  /** `known` returns an existing value for a member of this name (the id of a resource), or undefined. */
  constructor(schema: z.ZodType, random: Random, known: (name: string) => unknown = () => undefined) {
    this.#root = jsonSchema(schema, 'input')
    this.#random = random
    this.#known = known
  }

  get root(): JsonSchema {
    return this.#root
  }

  resolved(schema: JsonSchema): JsonSchema {
    const reference = schema.$ref
    if (typeof reference !== 'string') return schema
    const definitions = this.#root.$defs as Record<string, JsonSchema>
    return this.resolved(definitions[reference.slice('#/$defs/'.length)]!)
  }

  /** A random value that matches the JSON Schema; optional members are present half of the time. */
  sample(schema: JsonSchema = this.#root, name = '', depth = 0): unknown {
    const of = this.resolved(schema)
    const known = this.#known(name)
    if (known !== undefined && this.#chance(0.7)) return known
    if ('const' in of) return of.const
    if (Array.isArray(of.enum)) return this.#pick(of.enum)
    const choices = (of.anyOf ?? of.oneOf) as JsonSchema[] | undefined
    if (choices !== undefined) return this.sample(this.#pick(choices), name, depth + 1)
    switch (of.type) {
      case 'object':
        return this.#object(of, depth)
      case 'array':
        return this.#array(of, name, depth)
      case 'string':
        return this.#string(of)
      case 'integer':
        return this.#number(of, true)
      case 'number':
        return this.#number(of, false)
      case 'boolean':
        return this.#chance(0.5)
      case 'null':
        return null
      default:
        return this.#pick<unknown>([null, 'x', 7, [1], { a: 'b' }])
    }
  }

  #object(of: JsonSchema, depth: number): Record<string, unknown> {
    const required = new Set((of.required ?? []) as string[])
    const made: Record<string, unknown> = {}
    for (const [name, member] of Object.entries((of.properties ?? {}) as Record<string, JsonSchema>)) {
      if (required.has(name) || this.#chance(depth > 4 ? 0.15 : 0.5)) made[name] = this.sample(member, name, depth + 1)
    }
    if (of.properties === undefined && typeof of.additionalProperties === 'object') {
      const names = this.resolved((of.propertyNames ?? { type: 'string', minLength: 1 }) as JsonSchema)
      for (let count = this.#below(3); count > 0; count--)
        made[String(this.sample(names))] = this.sample(of.additionalProperties as JsonSchema, '', depth + 1)
    }
    return made
  }

  #array(of: JsonSchema, name: string, depth: number): unknown[] {
    const least = Number(of.minItems ?? 0)
    const most = Math.min(Number(of.maxItems ?? 3), least + (depth > 4 ? 1 : 3))
    const count = least + this.#below(most - least + 1)
    const items = Array.from({ length: count }, () => this.sample((of.items ?? {}) as JsonSchema, name, depth + 1))
    return of.uniqueItems === true ? [...new Map(items.map(item => [JSON.stringify(item), item])).values()] : items
  }

  #string(of: JsonSchema): string {
    if (of.format === 'uuid') return '0b0e3c1e-5a3c-4f4e-9f57-0b0f9c1d2e3f'
    if (of.format === 'date-time') return this.#pick(['2031-05-06T07:08:09Z', '2019-01-01T00:00:00.5+02:00'])
    if (of.format === 'uri') return this.#pick(['https://example.com/hook', 'https://example.com/a?b=c'])
    const least = Number(of.minLength ?? 0)
    const most = Math.min(Number(of.maxLength ?? 40), Math.max(least, 40))
    if (typeof of.pattern === 'string') return this.#matching(of.pattern, least, most)
    const letters = ['a', 'Z', '7', ' ', '_', '-', 'é', '\u{1f600}', "'", '"', '\\', '%', '/', '{{x}}']
    const length = least + this.#below(most - least + 1)
    return [...Array.from({ length }, () => this.#pick(letters)).join('')].slice(0, Math.max(length, 1)).join('')
  }

  #matching(pattern: string, least: number, most: number): string {
    const arbitrary = textsMatching(pattern).filter(text => {
      const { length } = [...text]
      return length >= least && length <= most
    })
    return fc.sample(arbitrary, { numRuns: 1, seed: this.#below(2 ** 31) })[0]!
  }

  #number(of: JsonSchema, whole: boolean): number {
    const least = Number(of.minimum ?? 0)
    const most = Number(of.maximum ?? least + 1000)
    const at = this.#pick([least, most, least + (most - least) * (this.#below(1000) / 1000)])
    return whole ? Math.round(at) : at
  }

  #chance(of: number): boolean {
    return this.#below(1000) < of * 1000
  }

  #pick<Of>(from: readonly Of[]): Of {
    return from[this.#below(from.length)]!
  }

  #below(limit: number): number {
    return limit <= 1 ? 0 : randomBelow(this.#random, limit)
  }
}
