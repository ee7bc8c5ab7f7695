import type { Ms } from '@parley/kernel'

/** Pauses between the sends of a webhook or a notification; after the last send it is given up. */
export const RETRY_AFTER_MS: readonly Ms[] = [1000, 5000, 30_000, 120_000, 600_000]
