export { RealTimeWork, VirtualServices } from '../audio/virtual-services.ts'
