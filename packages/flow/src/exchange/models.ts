import type { Json, modelRef } from '@parley/contract'
import type { z } from 'zod'
import type { ImportFindings } from './import-findings.ts'
import { equal, isObject } from './json.ts'
import type { SourceLocation } from './source-location.ts'

export type ModelRef = z.output<typeof modelRef>
export type ModelBindings = Readonly<Record<string, ModelRef>>

/** The model that is bound for the one that the export names at `location`; null where none is bound, or none named. */
export function boundModel(
  choice: Json | undefined,
  location: SourceLocation,
  bindings: ModelBindings,
  findings: ImportFindings,
): ModelRef | null {
  if (choice === undefined || choice === null || choice === '') return null
  const { path } = location
  const bound = Object.hasOwn(bindings, path) ? bindings[path]! : null
  findings.models.push({ path, sourceModel: sourceModel(choice), bound: bound !== null })
  const isPlaced = bound !== null && (equal(choice, modelChoice(bound)) || choice === bound.model.model_id)
  // The next export writes the name again, where it has a meaning.
  if (!isPlaced) findings.keep(location, choice)
  return bound
}

function sourceModel(choice: Json): string | null {
  const model = isObject(choice) ? choice.model : choice
  return typeof model === 'string' ? model : null
}

/** A model as flows and nodes of the format name it. */
export function modelChoice(ref: ModelRef): Json {
  return { type: 'cascading', model: ref.model.model_id, high_priority: false }
}
