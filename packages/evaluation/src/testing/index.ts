export { RealTimeWork, VirtualServices } from '../audio/virtual-services.ts'
export { GATE_HYPOTHESES, gateFigures } from './gate-figures.ts'
