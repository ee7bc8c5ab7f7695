import type { Scope } from '@parley/contract'
import type { DraftEnvironment } from '@parley/flow'
import {
  documentsOfDraft,
  existingDocuments,
  type OpenDraft,
  type Queries,
  referenceTargets,
  searchedGeneration,
} from '@parley/store'
import type { Catalogue } from '../catalogue.ts'
import type { Context } from '../context.ts'

/** The resources of the environment and the platform that the draft may refer to. `draft_id` null: without documents. */
export async function draftEnvironmentOf(
  { db, scope, platform }: Pick<Context, 'db' | 'scope' | 'platform'>,
  draft: Pick<OpenDraft, 'telephony'> & { readonly draft_id: string | null },
): Promise<DraftEnvironment> {
  const [catalogue, references, knowledge] = await Promise.all([
    platform.catalogue(scope, db),
    referenceTargets(db, scope, draft),
    knowledgeOf({ db, scope }, draft.draft_id),
  ])
  return { ...references, ...servicesOf(catalogue), ...knowledge }
}

const services = new WeakMap<Catalogue, Pick<DraftEnvironment, 'models' | 'voices'>>()

/** The models and voices of a catalogue, as a draft or a run refers to them. */
export function servicesOf(catalogue: Catalogue): Pick<DraftEnvironment, 'models' | 'voices'> {
  const known = services.get(catalogue)
  if (known !== undefined) return known
  const { models, voices } = catalogue
  const made = {
    models: models.map(({ model, kind, provider, ready }) => ({ identity: model, kind, provider, ready })),
    voices: voices.map(({ languages, ...voice }) => ({ ...voice, languages: [...new Set(languages.map(primaryTag))] })),
  }
  services.set(catalogue, made)
  return made
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
  const [{ generation }, document_ids] = await Promise.all([
    searchedGeneration(db, scope),
    draftId === null ? [] : documentsThatExist(db, scope, draftId),
  ])
  return { knowledge_ready: generation !== null, document_ids }
}

async function documentsThatExist(db: Queries, scope: Scope, draftId: string): Promise<readonly string[]> {
  const named = (await documentsOfDraft(db, scope, draftId)).filter(id => UUID.test(id))
  return named.length === 0 ? [] : existingDocuments(db, scope, named)
}
