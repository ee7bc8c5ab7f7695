import type { Handlers } from '../context.ts'
import { ACTION_DESCRIPTORS } from './catalogue-actions.ts'
import { pageByKey } from './catalogue-page.ts'

export const catalogueHandlers = {
  'actions.list': async ({ query: { channel, invocation } }, { platform }) => {
    const items = ACTION_DESCRIPTORS.filter(
      action =>
        // Only what works is listed.
        (action.effect_kind !== 'rtc_room' || platform.webRooms !== undefined) &&
        (channel === undefined || action.channels.includes(channel)) &&
        (invocation === undefined || action.invocations.includes(invocation)),
    )
    return { status: 200, body: { items } }
  },

  'models.list': async ({ query: { kind, ready, ...page } }, { platform, scope, db }) => {
    const { models: all } = await platform.catalogue(scope, db)
    const models = all.filter(model => (kind ?? model.kind) === model.kind && (ready ?? model.ready) === model.ready)
    const { rows, next_cursor } = pageByKey(
      models,
      ({ model, kind, provider }) => [model.provider, model.model_id, model.tier, provider, kind],
      { operation: 'models.list', tenantId: scope.tenant_id, filters: { kind, ready } },
      page,
    )
    return { status: 200, body: { items: rows, next_cursor } }
  },

  'voices.list': async ({ query: { role, language, provider, ...page } }, { platform, scope, db }) => {
    const { voices: all } = await platform.catalogue(scope, db)
    const voices = all.filter(
      voice =>
        (role ?? voice.role) === voice.role &&
        (provider ?? voice.provider) === voice.provider &&
        (language === undefined || voice.languages.some(tag => isWithin(tag, language))),
    )
    const { rows, next_cursor } = pageByKey(
      voices,
      voice => [voice.role, voice.provider, voice.model, voice.voice_id ?? ''],
      { operation: 'voices.list', tenantId: scope.tenant_id, filters: { role, language, provider } },
      page,
    )
    return { status: 200, body: { items: rows, next_cursor } }
  },
} satisfies Partial<Handlers>

/** `es-419` is within `es`, not the other way round. */
function isWithin(tag: string, language: string): boolean {
  const [narrow, wide] = [tag.toLowerCase(), language.toLowerCase()]
  return narrow === wide || narrow.startsWith(`${wide}-`)
}
