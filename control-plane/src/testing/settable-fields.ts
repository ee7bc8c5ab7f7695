import type { JsonSchema, Operation } from '@parley/contract'
import { jsonSchema } from '@parley/contract/testing'

/** A field that a request may set, as `Schema.field`, with its description in the API document. */
interface SettableField {
  readonly name: string
  readonly description: string
}

/** Prefix of references between schemas. */
const DEFINITIONS = '#/$defs/'

type Member = JsonSchema & {
  readonly $ref?: string
  readonly anyOf?: readonly Member[]
  readonly oneOf?: readonly Member[]
  readonly items?: Member
  readonly properties?: Readonly<Record<string, Member>>
  readonly additionalProperties?: Member | boolean
  readonly const?: unknown
  readonly enum?: readonly unknown[]
}

/**
 * Every field of the queries and bodies of `operations`. A named schema is listed once under its name; the branch of a
 * union has its discriminator (`Node[end]`); members of arrays and maps count as members of the field.
 */
export function settableFields(operations: readonly Pick<Operation, 'id' | 'query' | 'body'>[]): SettableField[] {
  const fields = new Map<string, string>()
  for (const { id, query, body } of operations)
    for (const part of [query, body]) if (part !== null) walk(jsonSchema(part, 'input') as Member, id, [], fields)
  return [...fields].map(([name, description]) => ({ name, description }))
}

function walk(
  schema: Member,
  at: string,
  within: readonly string[],
  fields: Map<string, string>,
  definitions = (schema.$defs ?? {}) as Readonly<Record<string, Member>>,
): void {
  const visit = (member: Member, place: string) => walk(member, place, within, fields, definitions)
  if (schema.$ref !== undefined) {
    const name = schema.$ref.slice(DEFINITIONS.length)
    // A schema that contains itself is listed once.
    if (!within.includes(name)) walk(definitions[name]!, name, [...within, name], fields, definitions)
    return
  }
  for (const branch of [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])]) visit(branch, at + discriminator(branch))
  for (const [name, member] of Object.entries(schema.properties ?? {})) {
    fields.set(`${at}.${name}`, typeof member.description === 'string' ? member.description : '')
    visit(member, `${at}.${name}`)
  }
  if (schema.items !== undefined) visit(schema.items, at)
  if (typeof schema.additionalProperties === 'object') visit(schema.additionalProperties, at)
}

/** The discriminator of a union's branch: `[type]`, `[kind]` or `[type/role]`. */
function discriminator({ properties = {} }: Member): string {
  const values = ['type', 'kind', 'role'].flatMap(name => {
    const { const: only, enum: several } = properties[name] ?? {}
    if (typeof only === 'string') return [only]
    return several === undefined ? [] : [several.join('|')]
  })
  return values.length === 0 ? '' : `[${values.join('/')}]`
}
