import type { Bus, Topic } from '../protocol.ts'

/** A bus within one process that tells at once, and keeps what was told; several who share one are several processes. */
export function localBus(): Bus & { readonly told: [Topic, string][] } {
  const listeners = new Map<Topic, Set<(id: string) => void>>()
  const told: [Topic, string][] = []
  return {
    told,
    publish(topic, id) {
      told.push([topic, id])
      for (const listener of listeners.get(topic) ?? []) listener(id)
    },
    subscribe(topic, listener) {
      const all = listeners.get(topic) ?? new Set()
      listeners.set(topic, all.add(listener))
      return () => all.delete(listener)
    },
    close: async () => {},
  }
}
