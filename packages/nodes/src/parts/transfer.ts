import { z } from 'zod'
import { type ImportWarning, notExecuted, type PartFinding, type PartFix } from '../findings.ts'
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

/** Stored unchanged; such a transfer runs as a cold one, and validation says so. */
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

/** Warnings about the fields of a transfer that do not run as written; `put` returns the node or action with other fields. */
export function transferFindings<Part>(
  { transfer_destination: to, transfer_option: option }: Transfer,
  put: (fields: Partial<Transfer>) => Part,
): PartFinding<Part>[] {
  const byRefer = { fix: 'put' as const, label: 'Transfer by REFER', part: put({ transfer_option: BY_REFER }) }
  const warning = (path: readonly string[], instead: string, fix: PartFix<Part>): PartFinding<Part> => ({
    ...notExecuted(path, instead),
    fixes: [fix],
  })
  const findings: PartFinding<Part>[] = []
  if (option.type !== 'cold_transfer')
    findings.push(warning(['transfer_option', 'type'], `${option.type} is not supported yet. ${UNANNOUNCED}`, byRefer))
  else {
    if (option.cold_transfer_mode !== 'sip_refer')
      findings.push(warning(['transfer_option', 'cold_transfer_mode'], 'the call is transferred by REFER', byRefer))
    else if (option.show_transferee_as_caller === true)
      findings.push({
        severity: 'warning',
        code: 'field_ignored',
        path: ['transfer_option', 'show_transferee_as_caller'],
        message:
          'With sip_refer the carrier chooses the caller number that is shown: set show_transferee_as_caller to false',
        fixes: [
          {
            fix: 'put',
            label: 'Leave it to the carrier',
            part: put({ transfer_option: { ...option, show_transferee_as_caller: false } }),
          },
        ],
      })
    if (option.transfer_ring_duration_ms !== undefined)
      findings.push(notExecuted(['transfer_option', 'transfer_ring_duration_ms'], RING_TIME))
  }
  if (to.type === 'predefined' && (to.extension ?? '') !== '')
    findings.push(
      warning(['transfer_destination', 'extension'], NO_EXTENSION, {
        fix: 'put',
        label: 'Leave the extension out',
        part: put({ transfer_destination: { ...to, extension: null } }),
      }),
    )
  return findings
}

const RING_TIME = 'the transferred call rings as long as the far end lets it'
const UNANNOUNCED = 'The call is transferred by REFER, without an announcement to the other side'
const NO_EXTENSION =
  'the agent leaves the call after a REFER and dials no extension, so use a number that reaches the extension directly'

/** Warnings about a transfer of an export that runs differently from how it is written. */
export function transferImportWarnings({ transfer_option: option }: JsonObject): ImportWarning[] {
  const { type, cold_transfer_mode: mode } = isObject(option) ? option : {}
  if (type === undefined || (type === 'cold_transfer' && mode !== 'sip_invite')) return []
  return [
    { code: 'unsupported_capability', field: 'transfer_option', message: `${UNANNOUNCED} (${String(mode ?? type)})` },
  ]
}
