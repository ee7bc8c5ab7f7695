import { ParleyApiError } from '@parley/client'

/** Null if the API answers "not found". */
export async function nullIfNotFound<Found>(request: Promise<Found>): Promise<Found | null> {
  try {
    return await request
  } catch (error) {
    if (error instanceof ParleyApiError && error.status === 404) return null
    throw error
  }
}
