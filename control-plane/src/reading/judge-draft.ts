import { type Diagnostic, type DraftContent, type Publishable, planOf, type Surroundings, validate } from '@parley/flow'

/** A draft that is to be judged, as JSON. Crosses to a thread as it is. */
export interface JudgeTask {
  readonly wants: 'diagnostics' | 'plan'
  readonly draft: string
  readonly surroundings: Surroundings
}

/** What a draft is published as, its plan as the JSON that is stored; or what is wrong with it. */
export type Planned =
  | (Omit<Extract<Publishable, { readonly ok: true }>, 'plan'> & { readonly plan: PlanJson })
  | Extract<Publishable, { readonly ok: false }>

export interface PlanJson {
  readonly plan_schema_version: number
  readonly json: string
}

export type JudgeOutcome =
  | { readonly wants: 'diagnostics'; readonly diagnostics: Diagnostic[] }
  | { readonly wants: 'plan'; readonly planned: Planned }

/** Pure. */
export function judgeTask({ wants, draft, surroundings }: JudgeTask): JudgeOutcome {
  const content = JSON.parse(draft) as DraftContent
  if (wants === 'plan') return { wants, planned: planned(content, surroundings) }
  return { wants, diagnostics: validate(content, surroundings) }
}

/** As `planOf`, with the plan as its JSON. */
export function planned(draft: DraftContent, surroundings: Surroundings): Planned {
  const result = planOf(draft, surroundings)
  if (!result.ok) return result
  const { plan, ...others } = result
  return { ...others, plan: { plan_schema_version: plan.plan_schema_version, json: JSON.stringify(plan) } }
}
