import { z } from 'zod'
import { json } from '../values/json.ts'
import { text } from '../values/text.ts'

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

/** Kept as written; validation says that it does not run yet. */
const warmTransfer = z.object({ type: z.enum(['warm_transfer', 'agentic_warm_transfer']) }).catchall(json)

/** The fields of a transfer, in a node or in an action. */
export const transferFields = {
  transfer_destination: destination,
  transfer_option: z
    .discriminatedUnion('type', [coldTransfer, warmTransfer])
    .default({ type: 'cold_transfer', cold_transfer_mode: 'sip_refer', show_transferee_as_caller: false }),
  custom_sip_headers: z
    .record(z.string().regex(/^[Xx]-[A-Za-z0-9-]{1,62}$/, 'a header name that begins with X-'), text(0, 1024))
    .default({}),
}
