package shop.service;

import java.util.List;

public class OrderService {
    private final OrderRepository repository;

    public OrderService(OrderRepository repository) {
        this.repository = repository;
    }

    public List<Order> findOpenOrders(String customerId) {
        return repository.findOpen(customerId);
    }
}
