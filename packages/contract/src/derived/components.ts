import { isDeepStrictEqual } from 'node:util'
import type { JsonSchema } from './json-schema.ts'

const PREFIX = '#/components/schemas/'
const INPUT = 'Input'

/**
 * The named schemas of an OpenAPI document. Generators of clients make a class of each object, and fail or invent a name where it has
 * none: so every object inside a schema becomes a component of its own, named after where it stands; a variant of a union after
 * its tag (`HttpAction`, `ConversationNode`), and a union of tagged objects has a discriminator.
 */
export class Components {
  readonly #schemas = new Map<string, JsonSchema>()

  /** All components by name, in the order of their names. */
  get all(): Record<string, JsonSchema> {
    return Object.fromEntries([...this.#schemas].sort(([a], [b]) => (a < b ? -1 : 1)))
  }

  has(name: string): boolean {
    return this.#schemas.has(name)
  }

  /** Adds the schema under exactly this name; the same name always has the same schema. Returns the reference. */
  add(name: string, schema: JsonSchema): JsonSchema {
    if (!this.#schemas.has(name)) {
      // Holds the place, so that no part of it takes the name.
      this.#schemas.set(name, {})
      this.#schemas.set(name, this.#parts(schema, name))
    }
    return reference(name)
  }

  /** The schema with its objects as references; an object itself becomes one, named `name` or, if that is another, with a number after it. */
  place(schema: JsonSchema, name: string): JsonSchema {
    if (!isObject(schema) && !isTaggedUnion(schema)) return this.#parts(schema, name)
    const placed = this.#parts(schema, name)
    for (let number = 1; ; number++) {
      const candidate = number === 1 ? name : numbered(name, number)
      const found = this.#schemas.get(candidate)
      if (found === undefined) this.#schemas.set(candidate, placed)
      if (found === undefined || isDeepStrictEqual(found, placed)) return reference(candidate)
    }
  }

  #parts(schema: JsonSchema, name: string): JsonSchema {
    if (typeof schema.$ref === 'string') return { $ref: schema.$ref }
    // Generators know null only beside another type.
    if (schema.type === 'null') return { ...schema, type: ['string', 'null'], enum: [null] }
    const result: JsonSchema = { ...withTextDefault(schema) }
    if (isSchema(schema.items)) result.items = this.place(schema.items, joined(name, 'item'))
    if (isSchema(schema.additionalProperties))
      result.additionalProperties = this.place(schema.additionalProperties, joined(name, 'value'))
    if (isSchema(schema.properties))
      result.properties = Object.fromEntries(
        Object.entries(schema.properties).map(([key, member]) => [
          key,
          this.place(member as JsonSchema, joined(name, key)),
        ]),
      )
    for (const union of ['oneOf', 'anyOf'] as const)
      if (Array.isArray(schema[union])) Object.assign(result, this.#union(schema[union] as JsonSchema[], union, name))
    return result
  }

  #union(variants: readonly JsonSchema[], union: 'oneOf' | 'anyOf', name: string): JsonSchema {
    const tag = tagOf(variants)
    const objects = variants.filter(variant => isObject(variant) || isTaggedUnion(variant))
    const nameOf = (variant: JsonSchema, at: number) => {
      if (tag !== undefined) return tagged(constOf(variant, tag)!, name)
      return objects.length === 1 ? joined(name, '') : joined(name, `option_${at + 1}`)
    }
    const placed = variants.map((variant, at) =>
      variant.type === 'null' ? variant : this.place(variant, nameOf(variant, at)),
    )
    // Generators know discriminators between objects only.
    if (tag === undefined || !variants.every(isObject)) return { [union]: placed }
    const mapping = Object.fromEntries(variants.map((variant, at) => [constOf(variant, tag)!, placed[at]!.$ref]))
    return { [union]: placed, discriminator: { propertyName: tag, mapping } }
  }
}

export function reference(name: string): JsonSchema {
  return { $ref: PREFIX + name }
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** An object with named members; a record of any names stays where it is. */
function isObject(schema: JsonSchema): boolean {
  return schema.type === 'object' && isSchema(schema.properties)
}

function isTaggedUnion(schema: JsonSchema): boolean {
  const variants = schema.oneOf ?? schema.anyOf
  return Array.isArray(variants) && variants.length > 1 && tagOf(variants) !== undefined
}

/** The member by whose value the variants are told apart; undefined: there is none. */
function tagOf(variants: readonly JsonSchema[]): string | undefined {
  if (variants.length < 2 || !variants.every(variant => isObject(variant) || isTaggedUnion(variant))) return undefined
  const names = Object.keys(membersOf(variants[0]!))
  return names.find(name => {
    const values = variants.map(variant => constOf(variant, name))
    return values.every(value => value !== undefined) && new Set(values).size === values.length
  })
}

function membersOf(variant: JsonSchema): Readonly<Record<string, JsonSchema>> {
  const inner = (variant.oneOf ?? variant.anyOf) as readonly JsonSchema[] | undefined
  return (inner?.[0] ?? variant).properties as Readonly<Record<string, JsonSchema>>
}

/** The fixed value of a member; of a union: that which all its variants have. */
function constOf(variant: JsonSchema, name: string): string | undefined {
  const inner = (variant.oneOf ?? variant.anyOf) as readonly JsonSchema[] | undefined
  if (inner !== undefined) {
    const values = new Set(inner.map(one => constOf(one, name)))
    return values.size === 1 ? [...values][0] : undefined
  }
  const value = (variant.properties as Readonly<Record<string, JsonSchema>> | undefined)?.[name]?.const
  return typeof value === 'string' ? value : undefined
}

/** Generators take a default that is an array or an object for a fault: the description says it instead. */
function withTextDefault(schema: JsonSchema): JsonSchema {
  if (typeof schema.default !== 'object' || schema.default === null) return schema
  const { default: value, ...rest } = schema
  const sentence = `Default: ${JSON.stringify(value)}.`
  return { ...rest, description: rest.description === undefined ? sentence : `${rest.description} ${sentence}` }
}

/** `TestCaseInput` and `caller`: `TestCaseCallerInput`. */
function joined(name: string, part: string): string {
  const [stem, ending] = split(name)
  return stem + pascal(part) + ending
}

/** `NodeInput` and `transfer_call`: `TransferCallNodeInput`. */
function tagged(tag: string, name: string): string {
  const [stem, ending] = split(name)
  return pascal(tag) + stem + ending
}

function numbered(name: string, number: number): string {
  const [stem, ending] = split(name)
  return `${stem}${number}${ending}`
}

function split(name: string): readonly [stem: string, ending: string] {
  return name.endsWith(INPUT) && name !== INPUT ? [name.slice(0, -INPUT.length), INPUT] : [name, '']
}

/** `transfer_call`, `transfer.call` and `transferCall`: `TransferCall`. */
export function pascal(text: string): string {
  return text
    .split(/[^A-Za-z0-9]+/)
    .map(word => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')
}
