import type { DraftContent } from '../plan/draft.ts'
import type { Findings } from '../plan/findings.ts'
import type { Fix } from '../plan/fixes.ts'
import type { DraftEnvironment } from './draft-environment.ts'

/** Knowledge that cannot be searched, and documents that are not there. */
export function checkKnowledge(
  { knowledge }: DraftContent,
  draftEnvironment: Pick<DraftEnvironment, 'knowledge_ready' | 'document_ids'>,
  findings: Findings,
): void {
  if (knowledge === null) return
  const without: Fix = { label: 'Talk without documents', edits: [{ type: 'agent.knowledge', value: null }] }
  if (!draftEnvironment.knowledge_ready)
    findings.warning(
      'knowledge_not_ready',
      ['knowledge'],
      'Documents cannot be searched here yet: until then the agent answers without them',
      without,
    )
  if (knowledge.document_ids === null) return
  const known = new Set(draftEnvironment.document_ids)
  const left = knowledge.document_ids.filter(id => known.has(id))
  const fix: Fix =
    left.length === 0
      ? without
      : {
          label: 'Leave out what is not there',
          edits: [{ type: 'agent.knowledge', value: { ...knowledge, document_ids: left } }],
        }
  for (const [index, id] of knowledge.document_ids.entries())
    if (!known.has(id))
      findings.warning('knowledge_not_ready', ['knowledge', 'document_ids', index], `There is no document "${id}"`, fix)
}
