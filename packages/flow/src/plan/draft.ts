import { draftContent } from '@parley/contract'
import type { z } from 'zod'

const parts = draftContent.shape
const telephony = parts.telephony.unwrap()

/** The schema of a draft as a person writes it: telephony, webhook, recording, actions and the like may be left out. */
const writtenDraft = draftContent.extend({
  settings: parts.settings.default({}),
  telephony: telephony
    .extend({ from: telephony.shape.from.default(null) })
    .nullable()
    .default(null),
  recording: parts.recording
    .extend({ channels: parts.recording.shape.channels.default('dual') })
    .prefault({ required: false }),
  notification: parts.notification.default(null),
  inbound_context: parts.inbound_context.default(null),
  knowledge: parts.knowledge.default(null),
  analysis: parts.analysis.default(null),
  actions: parts.actions.default([]),
  flow: parts.flow.prefault({}),
  source: parts.source.default(null),
})

/** A draft as a person writes it. A member that is left out becomes null, empty or its default. */
export type Draft = z.input<typeof writtenDraft>
/** A complete draft. Its settings are only those that were set explicitly. */
export type DraftContent = z.output<typeof draftContent>

/** Parses a written draft and fills in absent members. Throws `ZodError` when it does not match the schema. */
export function readDraft(draft: unknown): DraftContent {
  return writtenDraft.parse(draft)
}

type ReadDraft =
  | { readonly ok: true; readonly draft: DraftContent }
  | { readonly ok: false; readonly issues: readonly z.core.$ZodIssue[] }

/** As {@link readDraft}, without throwing. */
export function tryReadDraft(draft: unknown): ReadDraft {
  const parsed = writtenDraft.safeParse(draft)
  return parsed.success ? { ok: true, draft: parsed.data } : { ok: false, issues: parsed.error.issues }
}
