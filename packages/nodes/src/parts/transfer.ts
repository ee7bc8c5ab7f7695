import { z } from 'zod'
import { type ImportWarning, notExecuted, type PartFinding } from '../findings.ts'
import type { JsonObject } from '../node-type.ts'
import { json } from '../values/json.ts'
import { text } from '../values/text.ts'
import { isObject } from './json-schema.ts'

const destination = z
  .discriminatedUnion('type', [
    z.strictObject({
      type: z.literal('predefined'),
      number: text(1, 256),
      extension: text(0, 64).nullable().optional(),
    }),
    z.strictObject({ type: z.literal('inferred'), prompt: text(1, 4096) }),
  ])
  .meta({ id: 'TransferDestination' })

const coldTransfer = z.strictObject({
  type: z.literal('cold_transfer'),
  cold_transfer_mode: z.enum(['sip_refer', 'sip_invite']).default('sip_refer'),
  show_transferee_as_caller: z.boolean().default(false),
  transfer_ring_duration_ms: z.int().min(1000).max(300_000).optional(),
})

/** Stored unchanged; validation reports that it does not run yet. */
const warmTransfer = z.object({ type: z.enum(['warm_transfer', 'agentic_warm_transfer']) }).catchall(json)

/** The fields of a transfer in a node or an action. */
export const transferFields = {
  transfer_destination: destination,
  transfer_option: z
    .discriminatedUnion('type', [coldTransfer, warmTransfer])
    .default({ type: 'cold_transfer', cold_transfer_mode: 'sip_refer', show_transferee_as_caller: false }),
  custom_sip_headers: z
    .record(z.string().regex(/^[Xx]-[A-Za-z0-9-]{1,62}$/, 'a header name that begins with X-'), text(0, 1024))
    .default({}),
}

const transferSchema = z.object(transferFields)
type Transfer = Pick<z.output<typeof transferSchema>, 'transfer_destination' | 'transfer_option'>

const BY_REFER: Transfer['transfer_option'] = {
  type: 'cold_transfer',
  cold_transfer_mode: 'sip_refer',
  show_transferee_as_caller: false,
}

interface TransferFinding extends Omit<PartFinding<never>, 'fixes'> {
  /** The fields that resolve the finding. */
  readonly change: { readonly label: string; readonly fields: Partial<Transfer> }
}

/** Findings about the fields of a transfer that do not run as written; `put` returns the node or action with other fields. */
export function transferFindings<Part>(
  { transfer_destination: to, transfer_option: option }: Transfer,
  put: (fields: Partial<Transfer>) => Part,
): PartFinding<Part>[] {
  const found = [...optionFindings(option), ...destinationFindings(to)]
  const findings: PartFinding<Part>[] = found.map(({ change, ...finding }) => ({
    ...finding,
    fixes: [{ fix: 'put', label: change.label, part: put(change.fields) }],
  }))
  if (option.type === 'cold_transfer' && option.transfer_ring_duration_ms !== undefined)
    findings.push(notExecuted(['transfer_option', 'transfer_ring_duration_ms'], RING_TIME))
  return findings
}

const RING_TIME = 'the transferred call rings as long as the far end lets it'

function optionFindings(option: Transfer['transfer_option']): TransferFinding[] {
  const byRefer = { label: 'Transfer without announcement, by REFER', fields: { transfer_option: BY_REFER } }
  if (option.type !== 'cold_transfer')
    return [
      {
        severity: 'error',
        code: 'unsupported_capability',
        path: ['transfer_option'],
        message: `Transfers of type "${option.type}" are not supported yet: use cold_transfer`,
        change: byRefer,
      },
    ]
  if (option.cold_transfer_mode !== 'sip_refer')
    return [
      {
        severity: 'error',
        code: 'unsupported_capability',
        path: ['transfer_option', 'cold_transfer_mode'],
        message: 'Cold transfers run by REFER only: set cold_transfer_mode to sip_refer',
        change: byRefer,
      },
    ]
  if (option.show_transferee_as_caller !== true) return []
  return [
    {
      severity: 'warning',
      code: 'field_ignored',
      path: ['transfer_option', 'show_transferee_as_caller'],
      message:
        'With sip_refer the carrier chooses the caller number that is shown: set show_transferee_as_caller to false',
      change: {
        label: 'Leave it to the carrier',
        fields: { transfer_option: { ...option, show_transferee_as_caller: false } },
      },
    },
  ]
}

function destinationFindings(to: Transfer['transfer_destination']): TransferFinding[] {
  if (to.type !== 'predefined' || to.extension === undefined || to.extension === null || to.extension === '') return []
  return [
    {
      severity: 'error',
      code: 'unsupported_capability',
      path: ['transfer_destination', 'extension'],
      message:
        'The agent leaves the call after a REFER and cannot dial an extension: use a number that reaches the extension directly',
      change: { label: 'Leave the extension out', fields: { transfer_destination: { ...to, extension: null } } },
    },
  ]
}

/** A warning about a transfer of an export that is imported but does not run. */
export function transferImportWarnings({ transfer_option: option }: JsonObject): ImportWarning[] {
  const { type, cold_transfer_mode: mode } = isObject(option) ? option : {}
  if (type === undefined || (type === 'cold_transfer' && mode !== 'sip_invite')) return []
  return [
    {
      code: 'unsupported_capability',
      field: 'transfer_option',
      message:
        'Only cold transfers by sip_refer run: this one is imported unchanged, and the draft cannot be published with it',
    },
  ]
}
