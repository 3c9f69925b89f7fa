import type { Command } from 'commander';
import type { ReadConfig } from '../platform/config.ts';
import { addErasureCommand } from './adopters.ts';
import { addOrderActionCommands } from './order-actions.ts';
import { addOrderListCommands } from './order-lists.ts';

export function addOrderCommands(program: Command, config: ReadConfig): void {
  const orders = program
    .command('orders')
    .description("list and show orders, place, approve, complete, cancel and return them, and erase adopters' data");
  addOrderListCommands(orders, config);
  addOrderActionCommands(orders, config);
  addErasureCommand(orders, config);
}
