import { type AnalysisItem, propertyDescription, propertyNames, type VariableItem } from '@parley/flow'

type Schema = Readonly<Record<string, unknown>>
type Value = string | number | boolean

/** The results of an analysis; null where nothing was found, or nothing was requested. */
export interface Findings {
  readonly summary: string | null
  readonly sentiment: string | null
  readonly successful: boolean | null
  readonly custom: Readonly<Record<string, Value | null>>
}

const SENTIMENTS = ['positive', 'neutral', 'negative', 'unknown']
/** Of a text that a model wrote. */
const LONGEST_TEXT = 8000

const PRESETS: Readonly<Record<Extract<AnalysisItem, { type: 'system-presets' }>['name'], Schema>> = {
  call_summary: {
    type: 'string',
    description: 'What the conversation was about and what came of it, in two to four sentences.',
  },
  call_successful: { type: 'boolean', description: 'Whether the agent reached what it was there for.' },
  user_sentiment: { type: 'string', enum: SENTIMENTS, description: 'How the user felt about the conversation.' },
}

/** JSON Schema of an object with everything that is requested. */
export function findingsSchema(items: readonly AnalysisItem[]): Schema {
  const names = propertyNames(items.map(({ name }) => name))
  const properties = Object.fromEntries(items.map((item, index) => [names[index]!, propertyOf(item, names[index]!)]))
  const required = names.filter((_, index) => isNeeded(items[index]!))
  return { type: 'object', properties, required: [...new Set(required)], additionalProperties: false }
}

/** What an answer says, and what is wrong with it, by name: that counts as not found. */
export function readFindings(
  items: readonly AnalysisItem[],
  answer: Readonly<Record<string, unknown>>,
): { readonly findings: Findings; readonly issues: readonly string[] } {
  const issues: string[] = []
  const names = propertyNames(items.map(({ name }) => name))
  const requested = new Set(names)
  for (const name of Object.keys(answer))
    if (!requested.has(name)) issues.push(`${JSON.stringify(name.slice(0, 64))} was not asked for`)
  const values = new Map<string, Value | null>()
  for (const [index, item] of items.entries()) {
    const name = names[index]!
    const property = propertyOf(item, name)
    const value = Object.hasOwn(answer, name) ? answer[name] : null
    if (value === null || value === undefined) {
      if (isNeeded(item)) issues.push(`${item.name} is missing`)
      values.set(item.name, null)
      continue
    }
    const read = valueIn(property, value)
    if (read === null) issues.push(`${item.name} must be ${wanted(property)}`)
    values.set(item.name, read)
  }
  const preset = (name: keyof typeof PRESETS) =>
    items.some(item => item.type === 'system-presets' && item.name === name) ? (values.get(name) ?? null) : null
  const variables = items.filter(item => item.type !== 'system-presets')
  return {
    findings: {
      summary: preset('call_summary') as string | null,
      sentiment: preset('user_sentiment') as string | null,
      successful: preset('call_successful') as boolean | null,
      custom: Object.fromEntries(variables.map(({ name }) => [name, values.get(name) ?? null])),
    },
    issues,
  }
}

/** What the item `disposition` makes of a run: lower-cased, with "_". Undefined: there is none, or nothing was found. */
export function dispositionOf(items: readonly AnalysisItem[], { custom }: Findings): string | undefined {
  const item = items.find(({ type, name }) => type === 'enum' && name === 'disposition')
  const value = item === undefined ? null : custom[item.name]
  if (typeof value !== 'string') return undefined
  const word = value
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, '_')
    .replaceAll(/^_+|_+$/g, '')
  return word === '' ? undefined : word
}

function isNeeded(item: AnalysisItem): boolean {
  return item.type === 'system-presets' || item.required
}

function propertyOf(item: AnalysisItem, name: string): Schema {
  return item.type === 'system-presets' ? PRESETS[item.name] : variableProperty(item, name)
}

function variableProperty(item: VariableItem, name: string): Schema {
  const { examples } = item
  const description = propertyDescription(item.name, name, item.description)
  const type = item.type === 'enum' ? { type: 'string', enum: item.choices } : { type: item.type }
  return { ...type, description, ...(examples !== undefined && examples.length > 0 && { examples }) }
}

function valueIn(property: Schema, value: unknown): Value | null {
  const choices = property.enum as readonly string[] | undefined
  if (choices !== undefined) return choices.find(choice => choice === value) ?? null
  if (property.type === 'number') return typeof value === 'number' && Number.isFinite(value) ? value : null
  if (property.type === 'boolean') return typeof value === 'boolean' ? value : null
  if (typeof value !== 'string') return null
  // What a database does not take is no text.
  return value.slice(0, LONGEST_TEXT).replaceAll('\u0000', '').toWellFormed()
}

function wanted({ type, enum: choices }: Schema): string {
  return Array.isArray(choices) ? `one of ${choices.map(choice => JSON.stringify(choice)).join(', ')}` : `a ${type}`
}
