import type { Bus, Topic } from '../protocol.ts'

/** A bus within one process: listeners are called at once, and `published` records every change. Objects that share it act as separate processes. */
export function localBus(): Bus & { readonly published: [Topic, string][] } {
  const listeners = new Map<Topic, Set<(id: string) => void>>()
  const published: [Topic, string][] = []
  return {
    published,
    publish(topic, id) {
      published.push([topic, id])
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
