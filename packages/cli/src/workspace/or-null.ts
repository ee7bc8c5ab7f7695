import { ParleyApiError } from '@parley/client'

/** Null if the API answers "not found". */
export async function orNull<Found>(asked: Promise<Found>): Promise<Found | null> {
  try {
    return await asked
  } catch (error) {
    if (error instanceof ParleyApiError && error.status === 404) return null
    throw error
  }
}
