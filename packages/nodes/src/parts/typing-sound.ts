import { notExecuted, type PartFinding } from '../findings.ts'

/** A warning where the sound of typing is asked for, which is not played yet. */
export function warnTypingSound(part: { readonly enable_typing_sound?: boolean | undefined }): PartFinding<never>[] {
  return part.enable_typing_sound === true ? [notExecuted(['enable_typing_sound'], 'the caller hears silence')] : []
}
