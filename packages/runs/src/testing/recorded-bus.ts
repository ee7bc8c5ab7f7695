import type { Bus, Topic } from '@parley/store'

/** A bus within one process that tells at once, and keeps what was told. */
export function recordedBus(): Bus & { readonly told: readonly (readonly [Topic, string])[] } {
  const told: [Topic, string][] = []
  const listeners = new Map<Topic, Set<(id: string) => void>>()
  return {
    told,
    publish(topic, id) {
      told.push([topic, id])
      for (const listener of listeners.get(topic) ?? []) listener(id)
    },
    subscribe(topic, listener) {
      const those = listeners.get(topic) ?? new Set()
      listeners.set(topic, those)
      those.add(listener)
      return () => void those.delete(listener)
    },
    async close() {},
  }
}
