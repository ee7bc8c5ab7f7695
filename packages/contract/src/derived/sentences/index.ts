import type { JsonSchema } from '../json-schema.ts'
import { AGENT_SENTENCES } from './agents.ts'
import { RUN_SENTENCES } from './runs.ts'
import { WORKSPACE_SENTENCES } from './workspace.ts'

/** By the name of the property. */
export const SENTENCES: Readonly<Record<string, string>> = {
  ...AGENT_SENTENCES,
  ...RUN_SENTENCES,
  ...WORKSPACE_SENTENCES,
}

/**
 * The components with a sentence for each property that has none of its own. One name means the same in most objects; where it
 * does not, the schema itself describes the property (`.describe`), which wins.
 */
export function withSentences(components: Readonly<Record<string, JsonSchema>>): Record<string, JsonSchema> {
  return Object.fromEntries(
    Object.entries(components).map(([name, schema]) => {
      const { properties } = schema
      if (typeof properties !== 'object' || properties === null) return [name, schema]
      return [name, { ...schema, properties: described(properties as Record<string, JsonSchema>) }]
    }),
  )
}

function described(properties: Readonly<Record<string, JsonSchema>>): Record<string, JsonSchema> {
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => {
      const description = schema.description ?? SENTENCES[name]
      return [name, description === undefined ? schema : { ...schema, description }]
    }),
  )
}
