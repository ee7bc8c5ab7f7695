import { createHash } from 'node:crypto'
import type { Diagnostic, InputOf, OperationNamed } from '@parley/contract'
import { type ImportRefusal, type Inspection, importExport, inspectExport } from '@parley/flow'
import { canonicalJson } from '@parley/kernel'

type ImportBody = InputOf<OperationNamed<'agents.import'>>['body']
type InspectBody = InputOf<OperationNamed<'agents.import_inspect'>>['body']

/** The versions of each secret by its id, the current version last. */
export type SecretVersions = ReadonlyMap<string, readonly string[]>

/** The result of parsing an export: a draft as JSON text, or the refusal. Nothing is stored yet. */
export type ImportReading =
  | {
      readonly ok: true
      readonly name: string
      readonly draftJson: string
      /** The secret of the draft's webhook. */
      readonly secret: { readonly id: string; readonly version: string } | null
      readonly warnings: readonly Diagnostic[]
      /** SHA-256 of the export, without the agent that it is imported as. */
      readonly digest: string
    }
  | { readonly ok: false; readonly refusal: ImportRefusal }

/** Converts an export to a draft. Pure; does all work that grows with the size of the export. */
export function readImport(body: ImportBody, secrets: SecretVersions): ImportReading {
  const result = importExport(body, { secretVersion: id => secrets.get(id)?.at(-1) })
  if (!result.ok) return result
  const { draft, warnings } = result
  const secret = draft.notification?.secret ?? null
  return { ok: true, name: draft.name, draftJson: JSON.stringify(draft), secret, warnings, digest: digestOf(body) }
}

export function readInspection(body: InspectBody): Inspection {
  return inspectExport(body)
}

function digestOf({ agent_version, flow, agent, config, model_bindings }: ImportBody): string {
  const content = canonicalJson({ agent_version, flow, agent, config, model_bindings })
  return createHash('sha256').update(content).digest('hex')
}
