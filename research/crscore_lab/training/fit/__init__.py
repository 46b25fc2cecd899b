"""Fitting of trees and linear layers."""
