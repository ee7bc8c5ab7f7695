import type { ModelIdentity } from '@parley/nodes'
import type { DraftContent } from '../plan/draft.ts'
import type { Findings } from '../plan/findings.ts'
import { type Fix, putModelChoice } from '../plan/fixes.ts'
import { type Path, scopesOf } from '../plan/scope.ts'
import type { DraftEnvironment } from './draft-environment.ts'

/** Reports models that do not exist or are not ready, and speech-to-speech models where a model writes text. */
export function checkModels(
  draft: DraftContent,
  { models }: Pick<DraftEnvironment, 'models'>,
  findings: Findings,
): void {
  const chat = models.filter(model => model.kind === 'chat' && model.ready)
  const ready = new Set(chat.map(model => keyOf(model.identity)))
  const speaking = new Map(
    models.flatMap(({ kind, identity, ready }) => (kind === 'realtime' ? [[keyOf(identity), ready] as const] : [])),
  )
  const report = (model: ModelIdentity, path: Path, user: string, what: string, fixes: readonly (Fix | undefined)[]) =>
    findings.error(
      'model_not_ready',
      path,
      `The model "${model.provider}/${model.model_id}" of ${user} ${what}`,
      ...fixes,
    )
  const notReady = 'is not ready in this environment: choose one that GET /models lists as ready'
  const check = (model: ModelIdentity, path: Path, user: string, ...fixes: (Fix | undefined)[]) => {
    if (speaking.has(keyOf(model)))
      report(model, path, user, 'is a speech-to-speech model, which only "providers.llm" can name', fixes)
    else if (!ready.has(keyOf(model))) report(model, path, user, notReady, fixes)
  }
  const own = chat[0]
  const { model: named } = draft.providers.llm
  if (!(speaking.get(keyOf(named)) ?? ready.has(keyOf(named))))
    report(named, ['providers', 'llm', 'model'], 'the agent', notReady, [own && useModel(own)])
  const { fallbacks = [] } = draft.providers.llm
  for (const [index, model] of fallbacks.entries())
    if (!models.some(({ kind, identity }) => kind === 'chat' && keyOf(identity) === keyOf(model)))
      findings.error(
        'model_not_ready',
        ['providers', 'llm', 'fallbacks', index],
        `The fallback model "${model.provider}/${model.model_id}" does not exist: choose one that GET /models lists, or leave it out`,
        {
          label: 'Leave it out',
          edits: [
            {
              type: 'agent.provider',
              role: 'llm',
              changes: { fallbacks: fallbacks.filter((_, other) => other !== index) },
            },
          ],
        },
      )
  for (const scope of scopesOf(draft))
    for (const [index, node] of scope.nodes.entries()) {
      if (node.model_choice === null) continue
      const path = [...scope.path, 'nodes', index, 'model_choice', 'model']
      const without = putModelChoice(scope, node, null, "Use the agent's model")
      check(node.model_choice.model, path, `"${node.id}"`, without)
    }
  const { analysis } = draft
  if (analysis !== null && analysis.model !== null)
    check(analysis.model.model, ['analysis', 'model', 'model'], 'the analysis', {
      label: "Use the agent's model",
      edits: [{ type: 'agent.analysis', value: { ...analysis, model: null } }],
    })
}

function keyOf({ model_id, provider, tier }: ModelIdentity): string {
  return JSON.stringify([model_id, provider, tier])
}

/** Credential and endpoint belong to the other model and are removed. */
function useModel({ identity, provider }: DraftEnvironment['models'][number]): Fix {
  const changes = { model: identity, provider, credential: null, endpoint: null }
  return {
    label: `Use "${identity.provider}/${identity.model_id}"`,
    edits: [{ type: 'agent.provider', role: 'llm', changes }],
  }
}
