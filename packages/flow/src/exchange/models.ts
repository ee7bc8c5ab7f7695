import type { Json, modelRef } from '@parley/contract'
import type { z } from 'zod'
import type { ImportFindings } from './import-findings.ts'
import { equal, isObject } from './json.ts'
import type { SourceLocation } from './source-location.ts'

export type ModelRef = z.output<typeof modelRef>
export type ModelBindings = Readonly<Record<string, ModelRef>>

/** The binding of the model that the export names at `location`; null: the export names no model there, or it has no binding. */
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
  // The next export writes the source's name again.
  if (!isPlaced) findings.keep(location, choice)
  return bound
}

function sourceModel(choice: Json): string | null {
  const model = isObject(choice) ? choice.model : choice
  return typeof model === 'string' ? model : null
}

/** A model in the form that flows and nodes of the format use. */
export function modelChoice(ref: ModelRef): Json {
  return { type: 'cascading', model: ref.model.model_id, high_priority: false }
}
