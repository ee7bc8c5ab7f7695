import { createHash } from 'node:crypto'
import { canonicalJson } from '@parley/kernel'
import type { Diagnostic } from '../plan/diagnostic.ts'
import { type DraftContent, readDraft } from '../plan/draft.ts'
import { type Language, languagesOf } from '../plan/languages.ts'
import { type Plan, planFrom } from '../plan/plan.ts'
import type { DraftEnvironment } from './draft-environment.ts'
import { validate } from './validate.ts'

export type Publishable =
  | {
      readonly ok: true
      readonly plan: Plan
      /** `sha256:` and 64 hex digits, of the plan. */
      readonly digest: string
      readonly warnings: readonly Diagnostic[]
      readonly channels: readonly Plan['settings']['channels'][number][]
      readonly languages: readonly Language[]
    }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] }

/**
 * What a draft is published as: the plan, frozen, with every default filled in. It names secrets with their versions,
 * and neither agent nor version, so that equal drafts have equal digests. With errors there is no plan.
 */
export function planOf(draft: DraftContent, draftEnvironment: DraftEnvironment): Publishable {
  const diagnostics = validate(draft, draftEnvironment)
  if (diagnostics.some(found => found.severity === 'error')) return { ok: false, diagnostics }
  // Parsed again, since a draft stored by an older version lacks newer members.
  const plan = planFrom(readDraft(draft))
  const { channels, language } = plan.settings
  return { ok: true, plan, digest: digestOf(plan), warnings: diagnostics, channels, languages: languagesOf(language) }
}

/** SHA-256 of the plan in the canonical form of RFC 8785, as `sha256:` and 64 hex digits. */
export function digestOf(plan: Plan): string {
  return `sha256:${createHash('sha256').update(canonicalJson(plan)).digest('hex')}`
}
