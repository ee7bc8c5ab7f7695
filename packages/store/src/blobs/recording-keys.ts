import type { Scope } from '@parley/contract'

const SEGMENT = /^segment-(\d{6,9})\.wav$/
const ARTIFACT = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.wav$/

/** Prefix of all recording keys of a run. */
export function recordingPrefix({ tenant_id }: Scope, runId: string): string {
  return `recordings/${tenant_id}/${runId}/`
}

/** The key of a segment of ten seconds; `index` counts from 1. */
export function segmentKey(scope: Scope, runId: string, index: number): string {
  return `${recordingPrefix(scope, runId)}segment-${String(index).padStart(6, '0')}.wav`
}

/** The key of a joined recording, from its ContentRef. */
export function recordingKey(scope: Scope, runId: string, artifactId: string): string {
  return `${recordingPrefix(scope, runId)}${artifactId}.wav`
}

/** The segment or artifact of a key below `recordingPrefix`; null for other keys. */
export function readRecordingKey(
  scope: Scope,
  runId: string,
  key: string,
): { readonly segment: number } | { readonly artifactId: string } | null {
  const prefix = recordingPrefix(scope, runId)
  if (!key.startsWith(prefix)) return null
  const name = key.slice(prefix.length)
  const index = SEGMENT.exec(name)?.[1]
  if (index !== undefined) return Number(index) >= 1 ? { segment: Number(index) } : null
  const artifactId = ARTIFACT.exec(name)?.[1]
  return artifactId === undefined ? null : { artifactId }
}
