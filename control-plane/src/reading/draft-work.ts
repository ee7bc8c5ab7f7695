import type { DraftEdit } from '@parley/contract'
import {
  applyEdits,
  type Diagnostic,
  type DraftContent,
  type DraftEnvironment,
  type EditsApplied,
  exportDraft,
  type Publishable,
  planOf,
  validate,
} from '@parley/flow'
import { largeMembersJson } from './large-answer.ts'

/** A draft as its stored JSON text. */
interface DraftInput {
  readonly draft: string
}

interface ValidationInput extends DraftInput {
  readonly draftEnvironment: DraftEnvironment
}

/** The publication of a draft, with the plan as JSON text; or the diagnostics of an invalid draft. */
type PlanResult =
  | (Omit<Extract<Publishable, { readonly ok: true }>, 'plan'> & { readonly plan: PlanJson })
  | Extract<Publishable, { readonly ok: false }>

interface PlanJson {
  readonly plan_schema_version: number
  readonly json: string
}

/** An edited draft as JSON text, with its name if that changed; or why the edits do not apply. */
type EditResult =
  | { readonly ok: true; readonly json: string; readonly newName: string | null }
  | Extract<EditsApplied, { readonly ok: false }>

/**
 * All work that grows with the size of a draft, by name. Inputs and results can be sent to a worker thread; drafts and
 * plans are JSON text, since cloning their objects would cost the main thread as much as the work itself. Pure;
 * `content`, `publication` and `exported` return the large members of an answer and throw `answer_broken` as
 * `largeMembersJson` does.
 */
const draftWork = {
  diagnostics: ({ draft, draftEnvironment }: ValidationInput): Diagnostic[] =>
    validate(contentOf(draft), draftEnvironment),
  plan: ({ draft, draftEnvironment }: ValidationInput): PlanResult => {
    const result = planOf(contentOf(draft), draftEnvironment)
    if (!result.ok) return result
    const { plan, ...others } = result
    return { ...others, plan: { plan_schema_version: plan.plan_schema_version, json: JSON.stringify(plan) } }
  },
  edited: ({ draft, edits }: DraftInput & { readonly edits: readonly DraftEdit[] }): EditResult => {
    const content = contentOf(draft)
    const result = applyEdits(content, edits)
    if (!result.ok) return result
    const { name } = result.draft
    return { ok: true, json: JSON.stringify(result.draft), newName: name === content.name ? null : name }
  },
  renamed: ({ draft, name }: DraftInput & { readonly name: string }): string =>
    JSON.stringify({ ...contentOf(draft), name }),
  content: ({ draft }: DraftInput): string => largeMembersJson('drafts.get', JSON.parse(draft)),
  publication: ({ draft, plan }: DraftInput & { readonly plan: string }): string =>
    largeMembersJson('publications.get', { plan: JSON.parse(plan), draft: JSON.parse(draft) }),
  /** `version` null: the version of the export that the draft was imported from, or 0. */
  exported: ({
    draft,
    version,
    includeWebhook,
  }: DraftInput & { readonly version: number | null; readonly includeWebhook: boolean }): string => {
    const content = contentOf(draft)
    return largeMembersJson(
      'agents.export',
      exportDraft(content, { version: version ?? content.source?.agent_version ?? 0, includeWebhook }),
    )
  },
} as const

export type DraftWorkName = keyof typeof draftWork
export type DraftWorkInput<Name extends DraftWorkName> = Parameters<(typeof draftWork)[Name]>[0]
export type DraftWorkResult<Name extends DraftWorkName> = ReturnType<(typeof draftWork)[Name]>

/** Work on a draft, as it is sent to a worker thread. */
export interface DraftTask<Name extends DraftWorkName = DraftWorkName> {
  readonly work: Name
  readonly input: DraftWorkInput<Name>
}

export function doDraftWork<Name extends DraftWorkName>({ work, input }: DraftTask<Name>): DraftWorkResult<Name> {
  return (draftWork[work] as (input: DraftWorkInput<Name>) => DraftWorkResult<Name>)(input)
}

function contentOf(json: string): DraftContent {
  const content: DraftContent = JSON.parse(json)
  return content
}
