import type { DraftContent } from '../plan/draft.ts'
import type { Findings } from '../plan/findings.ts'
import type { Fix } from '../plan/fixes.ts'
import type { DraftEnvironment } from './draft-environment.ts'

/** Warns of knowledge that cannot be searched and of documents that do not exist. */
export function checkKnowledge(
  { knowledge }: DraftContent,
  draftEnvironment: Pick<DraftEnvironment, 'knowledge_ready' | 'document_ids'>,
  findings: Findings,
): void {
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
