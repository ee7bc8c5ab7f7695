import type { Language } from './language.ts'
import { inWords } from './tool-result.ts'
import { vocabulary } from './vocabulary.ts'
import { fold, wordsOf } from './words.ts'

export type Schema = Readonly<Record<string, unknown>>

/** The kind of a value, by its schema, its name and its description. */
export type Kind =
  | 'enum'
  | 'boolean'
  | 'number'
  | 'list'
  | 'object'
  | 'email'
  | 'phone'
  | 'name'
  | 'date'
  | 'time'
  | 'digits'
  | 'text'

/** A member of the object to fill in. */
export interface Property {
  readonly name: string
  readonly schema: Schema
  readonly kind: Kind
  readonly required: boolean
  /** Stems of the name. */
  readonly called: ReadonlySet<string>
  /** Stems of the name, title, description and enum members. */
  readonly about: ReadonlySet<string>
  readonly description: string
}

const MAX_PROPERTIES = 100
const MAX_DESCRIPTION = 1024

/** Folded words that show the kind of a text. The first matching kind wins, and the name counts before the description. */
const KINDS: readonly (readonly [Kind, ReadonlySet<string>])[] = [
  ['email', new Set('email mail correo'.split(' '))],
  ['phone', new Set('phone telephone mobile cell cellphone telefono movil celular callback'.split(' '))],
  ['date', new Set('date day weekday birthday birthdate dob fecha dia nacimiento'.split(' '))],
  ['time', new Set('time hour hora'.split(' '))],
  [
    'digits',
    new Set(
      'code pin digits number id identifier zip postcode reference codigo numero digitos referencia year ano'.split(
        ' ',
      ),
    ),
  ],
  ['name', new Set('name surname nombre apellido apellidos'.split(' '))],
]

/** The first 100 members of an object's schema. */
export function propertiesOf(schema: Schema, language: Language): Property[] {
  const properties = isSchema(schema.properties) ? schema.properties : {}
  const required = new Set(Array.isArray(schema.required) ? schema.required : [])
  return Object.entries(properties)
    .slice(0, MAX_PROPERTIES)
    .map(([name, given]) => propertyOf(name, isSchema(given) ? given : {}, required.has(name), language))
}

function propertyOf(name: string, schema: Schema, required: boolean, language: Language): Property {
  const description = textOf(schema.description).slice(0, MAX_DESCRIPTION)
  const ofName = stemsIn(inWords(name.slice(0, 256)), language)
  const members = membersOf(schema).join(' ')
  const about = new Set([...ofName, ...stemsIn(`${textOf(schema.title)} ${description} ${members}`, language)])
  return { name, schema, kind: kindOf(name, schema, description), required, called: ofName, about, description }
}

function kindOf(name: string, schema: Schema, description: string): Kind {
  if (membersOf(schema).length > 0) return 'enum'
  const type = typeOf(schema)
  if (type === 'boolean' || type === 'object') return type
  if (type === 'integer' || type === 'number') return 'number'
  if (type === 'array') return 'list'
  const format = textOf(schema.format)
  if (format === 'email' || format === 'date' || format === 'time') return format
  if (/^\^?\(?[[\\](?:0-9|d)/.test(textOf(schema.pattern).slice(0, 16))) return 'digits'
  return wordKind(inWords(name.slice(0, 256))) ?? wordKind(description) ?? 'text'
}

function wordKind(text: string): Kind | null {
  const words = fold(text).split(/[^a-z]+/)
  return KINDS.find(([, known]) => words.some(word => known.has(word)))?.[0] ?? null
}

/** The type of a schema, the first that is not "null". Default "object" with properties, else "string". */
export function typeOf(schema: Schema): string {
  const types = Array.isArray(schema.type) ? schema.type : [schema.type]
  const first = types.find(type => typeof type === 'string' && type !== 'null')
  if (typeof first === 'string') return first
  return isSchema(schema.properties) ? 'object' : 'string'
}

/** The values that an enum allows. */
export function membersOf(schema: Schema): readonly (string | number)[] {
  if (!Array.isArray(schema.enum)) return []
  return schema.enum.slice(0, MAX_PROPERTIES).filter(member => typeof member === 'string' || typeof member === 'number')
}

export function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function stemsIn(text: string, language: Language): Set<string> {
  const { grammar, framing: telling } = vocabulary(language)
  return new Set(
    wordsOf(text, language)
      .filter(word => !grammar.has(word.folded) && !telling.has(word.folded))
      .map(word => word.stem),
  )
}
