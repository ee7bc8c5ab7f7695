import type { DraftContent, DraftEnvironment } from '@parley/flow'
import { referenceTargets } from '@parley/store'
import type { Context } from '../context.ts'

/** The resources of the environment and the platform that the draft may refer to. There are no documents yet. */
export async function draftEnvironmentOf(
  { db, scope, platform }: Context,
  draft: Pick<DraftContent, 'telephony'>,
): Promise<DraftEnvironment> {
  const { models, voices } = platform.catalogue()
  return {
    ...(await referenceTargets(db, scope, draft)),
    models: models.map(({ model, kind, provider, ready }) => ({ identity: model, kind, provider, ready })),
    voices: voices.map(({ languages, ...voice }) => ({ ...voice, languages: [...new Set(languages.map(primaryTag))] })),
    knowledge_ready: false,
    document_ids: [],
  }
}

function primaryTag(tag: string): string {
  return tag.toLowerCase().split('-', 1).join()
}
