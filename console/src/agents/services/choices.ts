import type { ResultFrom } from '@parley/client'

type Model = ResultFrom<'models.list'>['items'][number]
export type Voice = ResultFrom<'voices.list'>['items'][number]

/** A choice of a list: its value, its name. */
type Choice = readonly [value: string, name: string]

/** `choices` with the current value, which the catalogue may not have (any more). */
export function withCurrent(choices: readonly Choice[], current: string): readonly Choice[] {
  return current === '' || choices.some(([value]) => value === current) ? choices : [...choices, [current, current]]
}

/** The value of a choice of a service: what it is called by in a draft. */
export function serviceId({ provider, model }: { readonly provider: string; readonly model: string }): string {
  return `${provider} · ${model}`
}

export function modelId({ provider, model_id }: Model['model']): string {
  return `${provider} · ${model_id}`
}

/** The services of `voices`, each once; a service is ready if one of its voices is. */
export function servicesOf(
  voices: readonly Pick<Voice, 'provider' | 'model' | 'ready'>[],
): readonly { readonly provider: string; readonly model: string; readonly ready: boolean }[] {
  const services = new Map<string, { provider: string; model: string; ready: boolean }>()
  for (const { provider, model, ready } of voices) {
    const id = serviceId({ provider, model })
    const isReady = ready || services.get(id)?.ready === true
    services.set(id, { provider, model, ready: isReady })
  }
  return [...services.values()]
}

/**
 * The changes that choose another service. Key and address belong to the service before, so that they go with it where the provider
 * changes.
 */
export function serviceChanges(
  before: { readonly provider: string; readonly credential?: unknown; readonly endpoint?: unknown },
  provider: string,
): { readonly credential?: null; readonly endpoint?: null } {
  if (before.provider === provider) return {}
  return {
    ...(before.credential !== undefined && { credential: null }),
    ...(before.endpoint !== undefined && { endpoint: null }),
  }
}
