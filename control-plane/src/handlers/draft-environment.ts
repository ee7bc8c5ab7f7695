import type { DraftEnvironment } from '@parley/flow'
import {
  documentsOfDraft,
  existingDocuments,
  type OpenDraft,
  referenceTargets,
  searchedGeneration,
} from '@parley/store'
import type { Context } from '../context.ts'

/** The resources of the environment and the platform that the draft may refer to. `draft_id` null: without documents. */
export async function draftEnvironmentOf(
  { db, scope, platform }: Pick<Context, 'db' | 'scope' | 'platform'>,
  draft: Pick<OpenDraft, 'telephony'> & { readonly draft_id: string | null },
): Promise<DraftEnvironment> {
  const { models, voices } = await platform.catalogue(scope, db)
  return {
    ...(await referenceTargets(db, scope, draft)),
    models: models.map(({ model, kind, provider, ready }) => ({ identity: model, kind, provider, ready })),
    voices: voices.map(({ languages, ...voice }) => ({ ...voice, languages: [...new Set(languages.map(primaryTag))] })),
    ...(await knowledgeOf({ db, scope }, draft.draft_id)),
  }
}

function primaryTag(tag: string): string {
  return tag.toLowerCase().split('-', 1).join()
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Whether documents can be searched, and which of those that the draft names exist. */
async function knowledgeOf(
  { db, scope }: Pick<Context, 'db' | 'scope'>,
  draftId: string | null,
): Promise<Pick<DraftEnvironment, 'knowledge_ready' | 'document_ids'>> {
  const documents = draftId === null ? [] : await documentsOfDraft(db, scope, draftId)
  const [{ generation }, document_ids] = await Promise.all([
    searchedGeneration(db, scope),
    existingDocuments(
      db,
      scope,
      documents.filter(id => UUID.test(id)),
    ),
  ])
  return { knowledge_ready: generation !== null, document_ids }
}
