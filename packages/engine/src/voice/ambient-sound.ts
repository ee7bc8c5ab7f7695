import type { Plan } from '@parley/flow'
import type { CallLeg } from '@parley/leg'
import { AMBIENT_SOUNDS, ambientLoop } from '@parley/media'

/** Mixes the ambient sound of the agent under everything that the caller hears. It satisfies no silence contract. */
export function playAmbientSound(leg: Pick<CallLeg, 'format' | 'setBackground'>, { settings }: Plan): void {
  const sound = AMBIENT_SOUNDS.find(name => name === settings.ambientSound)
  if (sound !== undefined) leg.setBackground(ambientLoop(sound, leg.format), settings.ambientSoundVolume)
}
