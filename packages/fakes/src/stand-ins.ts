import { anthropicStandIn } from './anthropic/stand-in.ts'
import { assemblyAiStandIn } from './assemblyai/stand-in.ts'
import { azureStandIn } from './azure/stand-in.ts'
import { cartesiaStandIn } from './cartesia/stand-in.ts'
import { deepgramStandIn } from './deepgram/stand-in.ts'
import { elevenLabsStandIn } from './elevenlabs/stand-in.ts'
import { geminiStandIn } from './gemini/stand-in.ts'
import { googleStandIn } from './google/stand-in.ts'
import { openAiCompatibleStandIn } from './openai/compatible-stand-in.ts'
import { openAiStandIn } from './openai/stand-in.ts'
import { sonioxStandIn } from './soniox/stand-in.ts'
import { speechmaticsStandIn } from './speechmatics/stand-in.ts'
import type { StandInVendor } from './stand-in.ts'

/** The stand-ins of all vendors. */
export const STAND_INS: readonly StandInVendor[] = [
  deepgramStandIn,
  assemblyAiStandIn,
  sonioxStandIn,
  speechmaticsStandIn,
  azureStandIn,
  googleStandIn,
  elevenLabsStandIn,
  cartesiaStandIn,
  openAiStandIn,
  anthropicStandIn,
  geminiStandIn,
  openAiCompatibleStandIn,
]
