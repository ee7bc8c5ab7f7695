import { createHash } from 'node:crypto'
import type { Diagnostic, InputOf, OperationNamed } from '@parley/contract'
import { type ImportRefusal, type Inspection, importExport, inspectExport } from '@parley/flow'
import { canonicalJson } from '@parley/kernel'

type ImportBody = InputOf<OperationNamed<'agents.import'>>['body']
type InspectBody = InputOf<OperationNamed<'agents.import_inspect'>>['body']

/** By the ids of secrets: their versions, the current one last. */
export type SecretVersions = ReadonlyMap<string, readonly string[]>

/** What an export comes to before anything is written: a draft, as the JSON that is stored. */
export type ImportReading =
  | {
      readonly ok: true
      readonly name: string
      readonly draftJson: string
      /** The secret of the draft's webhook. */
      readonly secret: { readonly id: string; readonly version: string } | null
      readonly warnings: readonly Diagnostic[]
      /** SHA-256 of what the export says, whatever it is imported as. */
      readonly digest: string
    }
  | { readonly ok: false; readonly refusal: ImportRefusal }

/** The draft that the export is. Pure, and all of the work that grows with the export. */
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
