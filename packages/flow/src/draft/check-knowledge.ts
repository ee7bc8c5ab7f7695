import type { DraftContent } from '../plan/draft.ts'
import type { Findings } from '../plan/findings.ts'
import type { Fix } from '../plan/fixes.ts'
import type { DraftEnvironment } from './draft-environment.ts'

/** Warns of knowledge that cannot be searched and of documents that do not exist. */
export function checkKnowledge(
  { knowledge, flow }: DraftContent,
  draftEnvironment: Pick<DraftEnvironment, 'knowledge_ready' | 'document_ids'>,
  findings: Findings,
): void {
  checkNodes(flow.nodes, { path: ['flow', 'nodes'], componentId: null }, draftEnvironment, findings)
  for (const [index, component] of flow.components.entries())
    checkNodes(
      component.nodes,
      { path: ['flow', 'components', index, 'nodes'], componentId: component.component_id },
      draftEnvironment,
      findings,
    )
  if (knowledge === null) return
  const without: Fix = { label: 'Answer without documents', edits: [{ type: 'agent.knowledge', value: null }] }
  if (!draftEnvironment.knowledge_ready)
    findings.warning(
      'knowledge_not_ready',
      ['knowledge'],
      'The environment cannot search documents yet, so the agent answers without them: remove the knowledge, or set up the search',
      without,
    )
  if (knowledge.document_ids === null) return
  const known = new Set(draftEnvironment.document_ids)
  const left = knowledge.document_ids.filter(id => known.has(id))
  const fix: Fix =
    left.length === 0
      ? without
      : {
          label: 'Leave out documents that do not exist',
          edits: [{ type: 'agent.knowledge', value: { ...knowledge, document_ids: left } }],
        }
  for (const [index, id] of knowledge.document_ids.entries())
    if (!known.has(id))
      findings.warning(
        'knowledge_not_ready',
        ['knowledge', 'document_ids', index],
        `The document "${id}" does not exist: upload it, or leave it out`,
        fix,
      )
}

/** Warns of nodes whose own documents do not exist, or cannot be searched. */
function checkNodes(
  nodes: DraftContent['flow']['nodes'],
  { path, componentId }: { readonly path: readonly (string | number)[]; readonly componentId: string | null },
  { knowledge_ready, document_ids }: Pick<DraftEnvironment, 'knowledge_ready' | 'document_ids'>,
  findings: Findings,
): void {
  const known = new Set(document_ids)
  for (const [at, node] of nodes.entries()) {
    const own = 'knowledge_base_ids' in node ? (node.knowledge_base_ids ?? []) : []
    const here = [...path, at, 'knowledge_base_ids']
    const fix: Fix = {
      label: 'Leave out documents that cannot be searched',
      edits: [
        {
          type: 'flow.node.put',
          component_id: componentId,
          node: { ...node, knowledge_base_ids: knowledge_ready ? own.filter(id => known.has(id)) : [] } as typeof node,
        },
      ],
    }
    if (own.length > 0 && !knowledge_ready)
      findings.warning(
        'knowledge_not_ready',
        here,
        'The environment cannot search documents yet, so the node answers without them: set up the search, or leave them out',
        fix,
      )
    for (const [index, id] of own.entries())
      if (!known.has(id))
        findings.warning(
          'knowledge_not_ready',
          [...here, index],
          `The document "${id}" does not exist: upload it, or leave it out`,
          fix,
        )
  }
}
